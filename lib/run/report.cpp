#include <evalcore/run/report.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include <evalcore/base/files.hpp>
#include <evalcore/base/version.hpp>

#include "run/find_runs.hpp"
#include "run/report_items.hpp"
#include "run/report_json.hpp"
#include "run/report_page.hpp"
#include "run/stored_items.hpp"
#include "run/tally.hpp"

namespace evalcore::run {
namespace {

result<void> no_twins(const std::vector<std::string>& stores) {
  std::error_code failed;
  for (auto one = stores.begin(); one != stores.end(); ++one) {
    const auto same = [&](const std::string& other) {
      return std::filesystem::equivalent(*one, other, failed);
    };
    if (std::any_of(stores.begin(), one, same)) {
      return fail(errc::invalid_argument, stage::config, *one + " is named twice; a report needs a run once");
    }
  }
  return {};
}

request_times times_of(const stored_reply& of, bool believed) {
  request_times out{.sent_unix_ms = *of.sent_unix_ms,
                    .total = *of.reply.timing.total,
                    .first_token = of.reply.timing.first_token};
  if (!believed) return out;
  const auto& usage = of.reply.usage;
  out.prompt_tokens = usage.prompt_tokens;
  out.completion_tokens = usage.completion_tokens;
  out.cached_tokens = usage.cached_tokens;
  out.predicted_cached_tokens = of.predicted_cached_tokens;
  return out;
}

/// One run while its items are read.
struct reading {
  stored_items items;
  report_run told;
  tally counts;

  reading(stored_items opened, report_run about)
      : items(std::move(opened)), told(std::move(about)), counts(told.counts) {}

  /// `counts` refers to its neighbour.
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;

  void add(const stored_item& found) {
    const auto& [what, stored, verdict, score] = found;
    counts.item(what.one, *what.scorer);
    if (!stored) return;
    counts.answer(stored->reply);
    counts.verdict(what.one.category, *what.scorer, verdict);
    const bool believed = counts.tokens(stored->reply, stored->predicted_cached_tokens);
    if (stored->sent_unix_ms && stored->reply.timing.total) told.times.push_back(times_of(*stored, believed));
  }
};

class reporting {
 public:
  reporting(const found_runs& of, atomic_file into)
      : of_(of),
        into_(std::move(into)),
        page_items_(of.parts.size(), [this](std::string_view text) { return write(text); }) {}

  result<report_written> run() {
    if (auto opened = open(); !opened) return std::move(opened).error();
    if (auto written = write(report_front()); !written) return std::move(written).error();
    for (std::size_t index = 0; index < of_.size; ++index) {
      if (auto added = add(index); !added) return std::move(added).error();
    }
    if (auto ended = page_items_.end(); !ended) return std::move(ended).error();
    const auto said = what();
    if (!said) return said.error();
    if (auto written = write(report_end(*said)); !written) return std::move(written).error();
    if (auto kept = into_.keep(); !kept) return std::move(kept).error();
    return report_written{of_.size, page_items_.without_text(), bytes_};
  }

 private:
  result<void> write(std::string_view text) {
    bytes_ += text.size();
    return into_.append(text);
  }

  result<void> open() {
    scored_.runs.resize(of_.parts.size());
    for (const auto& one : of_.parts) {
      auto history = history_of(one);
      if (!history) return std::move(history).error();
      auto items = stored_items::open(one, of_.what);
      if (!items) return std::move(items).error();
      runs_.push_back(
          std::make_unique<reading>(*std::move(items), report_run{&one, *std::move(history), {}, {}}));
    }
    return {};
  }

  result<void> add(std::size_t index) {
    std::vector<stored_item> found;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      auto one = runs_[run]->items.get(index);
      if (!one) return std::move(one).error();
      runs_[run]->add(*one);
      scored_.runs[run].items.push_back(one->score);
      found.push_back(*std::move(one));
    }
    scored_.ids.emplace_back();  // The page has them with its items.
    scored_.categories.push_back(found.front().what.one.category);
    return page_items_.add(found);
  }

  result<json::value> what() {
    json::array runs;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      auto& scored = scored_.runs[run];
      const auto& part = of_.parts[run];
      scored.wall_s = part.run.wall_s;
      if (part.setup.price) {
        auto spent = runs_[run]->items.spent();
        if (!spent) return std::move(spent).error();
        scored.spent = *spent;
      }
      runs.push_back(report_run_json(runs_[run]->told, scored));
    }
    json::array comparisons;
    for (std::size_t second = 1; second < runs_.size(); ++second) {
      comparisons.push_back(report_comparison_json(compare(scored_, 0, second)));
    }
    json::array categories;
    for (const auto& name : page_items_.categories()) categories.emplace_back(name);
    return json::value(json::object{{"evalcore_version", EVALCORE_VERSION},
                                    {"suite", std::filesystem::path(of_.what.path()).filename().string()},
                                    {"suite_hash", of_.what.hash()},
                                    {"items", std::uint64_t{of_.size}},
                                    {"without_text", page_items_.without_text()},
                                    {"categories", std::move(categories)},
                                    {"runs", std::move(runs)},
                                    {"comparisons", std::move(comparisons)}});
  }

  const found_runs& of_;
  atomic_file into_;
  std::uint64_t bytes_ = 0;
  report_items page_items_;
  std::vector<std::unique_ptr<reading>> runs_;
  scored_runs scored_;
};

}  // namespace

result<report_written> write_report(const report_options& how) {
  if (auto once = no_twins(how.stores); !once) return std::move(once).error();
  const auto found = find_runs(how.stores, how.suite, how.answers);
  if (!found) return found.error();
  auto file = atomic_file::create(how.path);
  if (!file) return std::move(file).error();
  return reporting(*found, *std::move(file)).run();
}

}  // namespace evalcore::run
