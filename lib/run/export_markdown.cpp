#include <string_view>
#include <vector>

#include <evalcore/base/utf8.hpp>

#include "run/export_formats.hpp"

namespace evalcore::run {
namespace {

/// Text of others as a table's cell shows it: one line, and no mark-up.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : replace_invalid_utf8(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += ' ';
    } else {
      if (std::string_view("\\`*_[]|~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const auto& one : cells) out += " " + one + " |";
  return out + "\n";
}

std::string interval_text(const std::optional<stats::interval>& of) {
  return of ? decimal(of->low, 4) + " to " + decimal(of->high, 4) : std::string("unknown");
}

std::string signed_decimal(double of) { return (of < 0 ? "" : "+") + decimal(of, 4); }

/// Of all items, each kind that there is.
std::string missing_text(const summary& of) {
  std::string out;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) out.append(out.empty() ? "" : ", ").append(std::to_string(count)).append(what);
  };
  for (const auto& [code, count] : of.errors_by_class) add(count, " errored (" + code + ")");
  add(of.unscored, " unscored");
  add(of.not_run, " not run");
  return out;
}

/// "A", "B", …; beyond the letters "27".
std::string letter(std::size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

void add_scores(std::string& out, std::span<const exported_run> runs) {
  out += row_of({"run", "task", "model", "category", "metric", "items", "score", "95 % interval", "missing"});
  out += "|---|---|---|---|---|---:|---:|---|---:|\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [what, labels, began] = runs[i];
    for (const auto& metric : what.metrics) {
      const auto sure = metric.interval();
      out += row_of({letter(i), plain(what.task), plain(labels.model_name), plain(metric.category),
                     plain(metric.metric), std::to_string(metric.items),
                     metric.scored > 0 ? decimal(metric.score(), 4) : "n/a",
                     interval_text(sure ? std::optional(sure->bounds) : std::nullopt),
                     std::to_string(metric.items - metric.scored)});
    }
    for (const auto& macro : what.macro_averages()) {
      out += row_of({letter(i), plain(what.task), plain(labels.model_name),
                     "mean of " + std::to_string(macro.categories), plain(macro.metric),
                     std::to_string(what.items), decimal(macro.mean.value, 4),
                     interval_text(macro.interval()), ""});
    }
  }
}

void add_comparisons(std::string& out, const scored_runs& of) {
  out += "\n" + row_of({"runs", "category", "difference", "95 % interval", "pairs", "better", "worse", "p",
                        "over all items"});
  out += "|---|---|---:|---|---:|---:|---:|---:|---|\n";
  const auto add = [&](const std::string& runs, const std::string& category, const paired_figures& one,
                       const std::string& bounds) {
    out += row_of({runs, plain(category), one.pairs == 0 ? "unknown" : signed_decimal(one.difference()),
                   interval_text(one.bounds), std::to_string(one.pairs), std::to_string(one.better),
                   std::to_string(one.worse), one.p ? decimal(*one.p, 4) : std::string(), bounds});
  };
  for (std::size_t second = 1; second < of.runs.size(); ++second) {
    const auto between = compare(of, 0, second);
    const auto names = letter(second) + " against " + letter(0);
    const auto& all = between.difference_bounds;
    add(names, "", between.paired,
        between.missing.empty() ? "" : signed_decimal(all.low) + " to " + signed_decimal(all.high));
    for (const auto& one : between.categories) add(names, one.name, one.paired, "");
  }
}

}  // namespace

std::string markdown_summary(std::span<const exported_run> runs, const scored_runs* compared) {
  std::string out = "### evalcore\n\n";
  add_scores(out, runs);
  if (compared != nullptr) add_comparisons(out, *compared);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const auto& line : {missing_text(runs[i].what), health_line(runs[i].what)}) {
      if (!line.empty()) out += "\n" + letter(i) + ": " + line + "\n";
    }
  }
  out +=
      "\nMissing items count as wrong. Intervals are Wilson's of scores that are all 0 or 1, else Student's "
      "t";
  out +=
      compared != nullptr ? "; of differences Tango's or Student's t, p is McNemar's exact test.\n" : ".\n";
  return out;
}

}  // namespace evalcore::run
