#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>

namespace evalcore::run {

// The gate on EvalCompare.Row files: each metric may lose so many percentage points, whatever the number of
// items. It behaves as the harness's eval-gate, gate-result.json to the byte.

/// Repeated measurements of one metric. Zeros where there are none; stdev is 0 of one.
struct pass_stats {
  std::vector<double> trial_scores;
  double mean = 0;
  double stdev = 0;  ///< With n - 1.
  double standard_error = 0;
  double ci95_low = 0;  ///< mean ± 1.96 standard errors.
  double ci95_high = 0;
};
[[nodiscard]] pass_stats stats_of(std::vector<double> trial_scores);

/// What the gate reads of one EvalCompare.Row.
struct gate_row {
  std::string task;
  std::optional<std::string> subtask;
  std::string metric;
  double score = 0;
  std::optional<pass_stats> stats;  ///< Of several passes, whose mean the score is.

  /// The same for rows that are measurements of one thing.
  [[nodiscard]] std::string key() const { return task + "::" + subtask.value_or("") + "::" + metric; }
};

/// The rows of a JSONL file; lines that are blank or no rows are left out.
[[nodiscard]] std::vector<gate_row> read_gate_rows(std::string_view lines);

/// Rows of the same key become one, in the order of their first.
[[nodiscard]] std::vector<gate_row> group_passes(const std::vector<gate_row>& rows);

/// Whether less is better, which is told by what the metric's name contains ("perplexity", "wer"), in any
/// case of letters and anywhere in it: `answer_match` is taken as a word error rate, too.
[[nodiscard]] bool lower_is_better(std::string_view metric);

struct gate_suite {
  std::string name;
  std::string task;                 ///< The name, unless it has one.
  std::optional<double> threshold;  ///< Absent: the default.
  std::vector<std::string> command;
};

struct gate_spec {
  std::string baseline;            ///< A file of rows.
  double default_threshold = 2.0;  ///< Percentage points.
  std::vector<gate_suite> suites;  ///< Empty: every row of the candidate is gated.
};

/// `what`: how messages name it. `project`: the spec is the member `eval` of it. Errors: invalid_argument.
[[nodiscard]] result<gate_spec> read_gate_spec(std::string_view text, const std::string& what, bool project);

/// A budget as gate-result.json repeats it. Errors: invalid_argument.
[[nodiscard]] result<json::value> read_budget(std::string_view text, const std::string& what);

struct gated_metric {
  std::string suite;
  gate_row candidate;
  std::optional<double> baseline_score;  ///< Absent: the baseline does not have it.
  std::optional<double> delta_pp;        ///< Percentage points gained; below 0 it got worse.
  bool lower_is_better = false;
  double threshold_pp = 0;

  /// Lost more than the threshold. A metric that the baseline does not have fails no gate.
  [[nodiscard]] bool failed() const noexcept { return delta_pp && *delta_pp < -threshold_pp; }
  /// "pass", "fail", or "missing" in the baseline, in static storage.
  [[nodiscard]] std::string_view verdict() const noexcept {
    return !baseline_score ? "missing" : failed() ? "fail" : "pass";
  }
};

struct compat_result {
  std::vector<gated_metric> metrics;  ///< In the order of their keys.
  std::uint64_t passes = 1;
  std::optional<json::value> budget;

  [[nodiscard]] std::uint64_t failed() const noexcept;
  [[nodiscard]] std::uint64_t missing() const noexcept;
};

/// Of two rows of the baseline with the same key the last counts. Errors: invalid_argument for scores whose
/// mean, its interval or their difference is not finite.
[[nodiscard]] result<compat_result> compat_gate(const gate_spec& spec, const std::vector<gate_row>& candidate,
                                                const std::vector<gate_row>& baseline);

/// gate-result.json.
[[nodiscard]] std::string to_text(const compat_result& of);

}  // namespace evalcore::run
