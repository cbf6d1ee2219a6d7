#pragma once

#include <span>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/comparison.hpp>
#include <evalcore/run/scored_runs.hpp>
#include <evalcore/run/summary.hpp>

#include "run/merge_parts.hpp"
#include "run/report_history.hpp"
#include "run/report_times.hpp"

namespace evalcore::run {

/// What a report knows of one run when its items have been read.
struct report_run {
  const part* from = nullptr;
  report_history history;
  summary counts;  ///< Of its items: metrics, answers and tokens.
  std::vector<request_times> times;
};

/// What a page says of a run; `scored` are its items. docs/report.md says what each figure is.
[[nodiscard]] json::value report_run_json(const report_run& of, const scored_run& scored);

/// The runs against the first, without their items.
[[nodiscard]] json::value report_comparison_json(const comparison& of);

}  // namespace evalcore::run
