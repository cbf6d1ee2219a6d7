#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/run/comparison.hpp>
#include <evalcore/run/scored_runs.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/summary.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

/// An item of a run as the formats see it.
struct exported_item {
  std::size_t position = 0;  ///< In the suite.
  json::value line;          ///< As the suite has it.
  item one;
  chat::request request;  ///< As it was sent.
  std::shared_ptr<const score::scorer> scorer;
  std::optional<chat::reply> reply;
  score::verdict verdict;
  item_score score;
};

/// A run as a whole. Of the summary: what is counted of answers, and wall_s.
struct exported_run {
  summary what;
  row_labels labels;
  std::int64_t started_unix_ms = 0;
};

/// Without what was asked, answered or expected, so that no format can show it.
[[nodiscard]] exported_item redacted(exported_item one);

/// The text of the reply, or its calls as JSON text where it has no other.
[[nodiscard]] std::string answer_text(const chat::reply& reply);
/// The prompt as text: that of the only turn where nothing else is said, else the turns as JSON.
[[nodiscard]] std::string prompt_text(const chat::request& request);
/// Fixed, `digits` behind the point.
[[nodiscard]] std::string decimal(double number, int digits);

// lm-eval: <model>/samples_<task>_<time>.jsonl and <model>/results_<time>.json.
[[nodiscard]] std::string lm_eval_folder(const std::string& model);
/// As Python writes the time into the names, in UTC.
[[nodiscard]] std::string lm_eval_time(std::int64_t unix_ms);
/// A line of the samples.
[[nodiscard]] std::string lm_eval_sample(const exported_item& one);
[[nodiscard]] std::string lm_eval_results(const exported_run& run);

// BFCL: result/<model>/<group>/BFCL_v4_<category>_result.json.
/// Errors: invalid_argument for an item of no category with one turn.
[[nodiscard]] result<std::string> bfcl_result_file(const std::string& model, const item& one);
/// Of an item with a reply: a line.
[[nodiscard]] std::string bfcl_result(const exported_item& one);

// JUnit
[[nodiscard]] std::string junit_case(const exported_item& one, const std::string& task);
/// A suite around its cases.
[[nodiscard]] std::string junit_suite(const exported_run& run, std::uint64_t wrong, const std::string& cases);
inline constexpr std::string_view junit_head =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"evalcore\">\n";
inline constexpr std::string_view junit_tail = "</testsuites>\n";

/// `compared`: null: nothing is; its runs are those of `runs`.
[[nodiscard]] std::string markdown_summary(std::span<const exported_run> runs, const scored_runs* compared);

// CSV
[[nodiscard]] std::string csv_head();
[[nodiscard]] std::string csv_line(const exported_run& run, const exported_item& one);

}  // namespace evalcore::run
