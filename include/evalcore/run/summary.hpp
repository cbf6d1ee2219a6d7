#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/backend/probe.hpp>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/noise_floor.hpp>
#include <evalcore/run/rows.hpp>
#include <evalcore/score/scorer.hpp>
#include <evalcore/stats/interval.hpp>
#include <evalcore/stats/mean.hpp>

namespace evalcore::run {

/// How sure a score is: where the mean of very many such items would be, with 95 % confidence.
struct score_interval {
  std::string_view kind;  ///< "wilson" of scores that are all 0 or 1, else "t".
  stats::interval bounds;
};

/// One metric over the items that share it.
struct metric_summary {
  std::string category;  ///< Empty when the suite has none.
  std::string metric;    ///< "accuracy", "exact_match", …
  std::uint64_t items = 0;
  std::uint64_t scored = 0;
  double total = 0;      ///< Sum of the values of the scored items.
  bool further = false;  ///< Told beside the score and no part of it (score::scorer::further_metrics).
  double squares = 0;    ///< Sum of the squares of these values.
  double weight = 0;     ///< Sum of the weights of these values (score::further_value).
  score::figure comes_to = score::figure::mean;

  /// Missing items (errored, unscored, not run) counted wrong: what is reported as the score. Infinite where
  /// less is better without a bound and items are missing.
  [[nodiscard]] double score() const noexcept;
  /// Missing items counted right.
  [[nodiscard]] double upper_bound() const noexcept;
  /// The score with its standard error; absent without items, and of what is no mean.
  [[nodiscard]] std::optional<stats::estimate> estimate() const;
  /// Absent without scored items, of a single one that is neither right nor wrong, and of what is no mean.
  [[nodiscard]] std::optional<score_interval> interval() const;
};

/// The mean of the categories' scores, each of the same weight.
struct macro_average {
  std::string metric;
  std::uint64_t categories = 0;
  std::uint64_t unevaluated = 0;  ///< Of these, without a scored item: all wrong in the mean.
  stats::estimate mean;  ///< Categories are strata; without a standard error where one has a single item.

  /// Student's, of 95 %, between 0 and 1. Absent without a standard error.
  [[nodiscard]] std::optional<stats::interval> interval() const;
};

/// What a run cost.
struct cost_summary {
  run::price price;
  cost sent;   ///< Of the attempts of this process.
  cost spent;  ///< On this suite with this backend, earlier runs in the store included.
  std::optional<pico_usd> max;
};

/// What a run came to. Counts of tokens and times are of the requests that this process sent; scores are of
/// all items, those reused from the store included. Absent is unknown.
struct summary {
  std::string run_id;
  std::string suite_path;
  std::string suite_hash;
  std::string task;
  std::string shard;  ///< "1/4"; empty: the whole suite.
  backend::info backend;
  backend::probe_report probe;    ///< The store has it with the evidence.
  std::string order;              ///< "prefix" or "suite".
  std::string tools;              ///< "native", "text"; "none" when the suite declares none.
  std::uint32_t concurrency = 0;  ///< Requests in flight at most, at each endpoint.
  bool adaptive = false;          ///< Found while running, up to `concurrency`.

  std::uint64_t items = 0;
  std::uint64_t reused = 0;     ///< Taken from the store.
  std::uint64_t stood_in = 0;   ///< Of these, replies that another item or run was given (response_cache).
  std::uint64_t sent = 0;       ///< Requests that went out, retries included.
  std::uint64_t retried = 0;    ///< Of these, those that were sent again.
  std::uint64_t answered = 0;   ///< Items with a reply, reused ones included.
  std::uint64_t errors = 0;     ///< Items whose request failed.
  std::uint64_t unscored = 0;   ///< Items whose checker failed.
  std::uint64_t not_run = 0;    ///< Left over: the run was interrupted or stopped.
  std::uint64_t not_saved = 0;  ///< Of these, items whose answer had come when the store took no more.
  std::map<std::string, std::uint64_t> errors_by_class;
  std::map<std::string, std::uint64_t> retries_by_class;  ///< Of the failures that were sent again.
  std::uint64_t possibly_paid_twice = 0;
  bool interrupted = false;
  std::string stopped;  ///< Why not everything was sent; empty: it was, or the run was interrupted.
  std::vector<pool::endpoint_figures> endpoints;

  std::vector<metric_summary> metrics;

  double wall_s = 0;  ///< From the first dispatch to the last end.
  /// Processor time of this process in between, user and system; absent: of several processes.
  std::optional<double> processor_s;
  /// Bytes that this process had at most until the last end; absent as above.
  std::optional<std::uint64_t> peak_memory;
  std::optional<double> mean_ttft_s;
  std::optional<std::uint64_t> prompt_tokens;
  std::optional<std::uint64_t> cached_tokens;
  std::optional<std::uint64_t> cache_write_tokens;
  std::optional<std::uint64_t> completion_tokens;
  std::optional<std::uint64_t> reasoning_tokens;
  std::optional<cost_summary> cost;             ///< Absent: no prices were given.
  std::optional<run::noise_floor> noise_floor;  ///< Absent: no item was to be asked twice.

  bool plan_exact = false;  ///< Predictions are tokens; otherwise they are not shown against reports.
  std::uint64_t prefix_groups = 0;
  std::uint64_t invariant_prefix = 0;
  std::optional<std::uint64_t> predicted_cached_tokens;

  // What the answers look like, for a reader who wonders about a score.
  std::uint64_t cut_by_length = 0;
  std::uint64_t empty_answers = 0;
  std::uint64_t no_answers = 0;          ///< Texts in which the scorer found nothing to compare.
  std::uint64_t unclosed_reasoning = 0;  ///< Answers that ended before their reasoning did.
  std::uint64_t refused = 0;             ///< By the model's or the backend's own word.
  std::uint64_t double_bos = 0;      ///< Items whose prompt has a token of beginning that is added anyway.
  std::uint64_t unknown_finish = 0;  ///< The backend did not say, in words known here, why the answer ended.
  /// Request fields that the backend has no place for, with the number of answers given without them.
  std::map<std::string, std::uint64_t> dropped;
  std::uint64_t unbelievable_usage = 0;  ///< Replies whose token counts cannot be; left out of the sums.

  /// All items over all metrics but further ones, missing items wrong; nothing when there is no item.
  [[nodiscard]] std::optional<double> score() const noexcept;
  [[nodiscard]] std::optional<double> score_upper_bound() const noexcept;
  /// Of each metric that two or more categories have.
  [[nodiscard]] std::vector<macro_average> macro_averages() const;
};

/// The summary as JSON, two blanks a level, keys in a fixed order, unknown figures null.
[[nodiscard]] std::string to_json(const summary& of);

/// `prefix cached: N tokens of M predicted (hit rate 93.1 %)`, with `unknown` where the backend reports no
/// cached tokens.
[[nodiscard]] std::string prefix_line(const summary& of);

/// `answers cut by max_tokens: 3, empty: 1`, with whatever else ails them; empty: nothing does.
[[nodiscard]] std::string health_line(const summary& of);

/// `cost: 0.0125 USD`, with what earlier runs spent if there is such; needs summary::cost.
[[nodiscard]] std::string cost_line(const summary& of);

/// Who is named in the rows.
struct row_labels {
  bool baseline = false;
  std::string model_name;
  std::string model_path;
  std::optional<std::int64_t> model_step;
  std::string timestamp;  ///< ISO-8601, UTC, "Z".
};

/// One row for each metric of each category; the score counts missing items as wrong. None where that makes
/// it infinite.
[[nodiscard]] std::vector<row> rows_of(const summary& of, const row_labels& labels);

}  // namespace evalcore::run
