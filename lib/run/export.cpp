#include <evalcore/run/export.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <evalcore/run/ids.hpp>
#include <evalcore/run/rows.hpp>

#include "run/export_formats.hpp"
#include "run/merge_parts.hpp"
#include "run/stored_items.hpp"
#include "run/tally.hpp"

namespace evalcore::run {
namespace {

error refuse(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

result<json::value> line_of(const suite& from, std::size_t index) {
  const auto text = from.line(index);
  return text ? json::parse(*text) : text.error();
}

void count(summary& of, tally& into, const stored_item& one) {
  into.item(one.what.one, *one.what.scorer);
  if (one.stored) {
    into.answer(one.stored->reply);
    into.verdict(one.what.one.category, *one.what.scorer, one.verdict);
  } else if (one.score.state == item_state::errored) {
    of.errors += 1;
    of.errors_by_class[one.score.why] += 1;
  } else {
    of.not_run += 1;
  }
}

/// Writes what came, run after run.
class exporting {
 public:
  exporting(export_format format, const export_options& how, const export_sink& into)
      : format_(format), how_(how), into_(into) {}

  result<export_counts> all() {
    if (auto begun = begin(); !begun) return std::move(begun).error();
    for (const auto& path : how_.stores) {
      auto read = read_parts({path});
      if (!read) return std::move(read).error();
      ++number_;
      if (auto written = one_run(read->front()); !written) return std::move(written).error();
    }
    if (auto ended = end(); !ended) return std::move(ended).error();
    return counts_;
  }

 private:
  result<void> begin() {
    if (format_ == export_format::csv) return into_("", csv_head());
    if (format_ == export_format::junit) return into_("", junit_head);
    return {};
  }

  result<void> one_run(const part& from) {
    if (!from.setup.shard.empty()) {
      return refuse(from.path + " is part " + from.setup.shard +
                    " of a run; `evalcore merge` puts the parts together first");
    }
    const auto what = open_suite(from, how_.suite, how_.answers);
    if (!what) return what.error();
    auto items = stored_items::open(from, *what);
    if (!items) return std::move(items).error();
    exported_run run = described(from, *what);
    if (auto fits = name_files(run); !fits) return fits;
    tally counts(run.what);
    cases_.clear();
    wrong_ = 0;
    for (std::size_t index = 0; index < run.what.items; ++index) {
      auto found = items->get(index);
      if (!found) return std::move(found).error();
      count(run.what, counts, *found);
      if (!wants_items()) continue;
      auto line = line_of(*what, index);
      if (!line) return std::move(line).error();
      auto& [one, scorer, request, record] = found->what;
      exported_item item{index, *std::move(line), std::move(one), std::move(request), std::move(scorer),
                         {},    found->verdict,   found->score};
      if (found->stored) item.reply = std::move(found->stored->reply);
      if (how_.redact) item = redacted(std::move(item));
      if (auto written = one_item(run, item); !written) return written;
    }
    counts_.items += run.what.items;
    counts_.missing += run.what.errors + run.what.not_run;
    suites_.insert(from.run.suite_hash + from.setup.scorer_named + from.setup.host_scorer);
    return end_run(std::move(run));
  }

  [[nodiscard]] exported_run described(const part& from, const suite& what) const {
    exported_run run;
    run.started_unix_ms = from.run.started_unix_ms;
    run.labels = from.setup.labels;
    if (!how_.model_name.empty()) run.labels.model_name = how_.model_name;
    run.what.task = from.setup.task;
    run.what.run_id = from.run.run_id;
    run.what.wall_s = from.run.own_wall_s;
    run.what.items = std::min<std::uint64_t>(what.size(), from.setup.items);
    return run;
  }

  [[nodiscard]] bool wants_items() const {
    return format_ != export_format::rows && format_ != export_format::markdown;
  }

  /// A model's name becomes that of a folder.
  result<void> name_files(const exported_run& run) {
    if (format_ != export_format::lm_eval && format_ != export_format::bfcl) return {};
    const auto& model = run.labels.model_name;
    folder_ = lm_eval_folder(model);
    if (folder_.empty() || folder_ == "." || folder_ == ".." || folder_.find('\0') != std::string::npos)
      return refuse("the model's name \"" + model +
                    "\" cannot be that of a folder; name another (--model-name)");
    const auto time = lm_eval_time(run.started_unix_ms);
    auto task = run.what.task;
    std::ranges::replace(task, '/', '_');
    samples_ = folder_ + "/samples_" + task + "_" + time + ".jsonl";
    results_ = folder_ + "/results_" + time + ".json";
    return {};
  }

  /// Two runs must not become one file, whose items would stand twice.
  result<void> claim(const std::string& file) {
    const auto [held, fresh] = owners_.try_emplace(file, number_);
    if (fresh || held->second == number_) return {};
    return refuse("two of the runs would be written to " + file +
                  "; export them one by one into different folders");
  }

  result<void> put(const std::string& file, const std::string& text) {
    if (auto free = claim(file); !free) return free;
    return into_(file, text);
  }

  result<void> one_item(const exported_run& run, const exported_item& one) {
    switch (format_) {
      case export_format::lm_eval:
        return put(samples_, lm_eval_sample(one));
      case export_format::bfcl: {
        const auto file = bfcl_result_file(run.labels.model_name, one.one);
        if (!file) return file.error();
        return one.reply ? put(*file, bfcl_result(one)) : result<void>();
      }
      case export_format::csv:
        return into_("", csv_line(run, one));
      case export_format::junit:
        if (one.score.state == item_state::scored && one.score.value < 1) ++wrong_;
        cases_ += junit_case(one, run.what.task);
        return {};
      case export_format::rows:
      case export_format::markdown:
        break;
    }
    return {};
  }

  result<void> end_run(exported_run run) {
    switch (format_) {
      case export_format::rows:
        return put_rows(run);
      case export_format::lm_eval:
        return put(results_, lm_eval_results(run));
      case export_format::junit:
        return into_("", junit_suite(run, wrong_, cases_));
      case export_format::markdown:
        runs_.push_back(std::move(run));
        return {};
      case export_format::bfcl:
      case export_format::csv:
        break;
    }
    return {};
  }

  /// The time of a row is the end; the store knows when a run began and how long it took.
  result<void> put_rows(const exported_run& run) {
    if (run.what.not_run > 0) {
      return refuse(
          "of the run " + run.what.run_id + " " + std::to_string(run.what.not_run) +
          " items were not run, and rows have no place to say so; the same `evalcore run` again goes "
          "on with it");
    }
    auto labels = run.labels;
    labels.timestamp = timestamp(run.started_unix_ms + std::llround(run.what.wall_s * 1000));
    std::string lines;
    for (const auto& one : rows_of(run.what, labels)) lines += to_line(one);
    return into_("", lines);
  }

  result<void> end() {
    if (format_ == export_format::junit) return into_("", junit_tail);
    if (format_ != export_format::markdown) return {};
    if (runs_.size() < 2 || suites_.size() > 1) return into_("", markdown_summary(runs_, nullptr));
    const auto compared = read_runs(how_.stores, how_.suite, how_.answers);
    if (!compared) return compared.error();
    return into_("", markdown_summary(runs_, &*compared));
  }

  export_format format_;
  const export_options& how_;
  const export_sink& into_;
  export_counts counts_;
  std::string folder_;
  std::string samples_;
  std::string results_;
  std::string cases_;
  std::uint64_t wrong_ = 0;
  std::size_t number_ = 0;                     ///< Of the run, from 1.
  std::map<std::string, std::size_t> owners_;  ///< Of a file, the number of its run.
  std::set<std::string> suites_;               ///< With what scored them; runs are compared within one.
  std::vector<exported_run> runs_;
};

}  // namespace

result<export_counts> export_runs(export_format format, const export_options& how, const export_sink& into) {
  if (how.stores.empty()) return refuse("name at least one run");
  return exporting(format, how, into).all();
}

}  // namespace evalcore::run
