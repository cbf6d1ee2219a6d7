#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/summary.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

struct score_options {
  std::string scorer;  ///< In the place of the items' own, as score::find_scorer() takes it; empty: those.
  std::optional<std::size_t> limit;  ///< Only the first so many items of the suite.
  /// Called with each verdict, steps included, in the order of the suite; null: nobody is.
  std::function<void(const item&, const score::verdict&)> scored;
};

struct scored_replies {
  summary what;               ///< Of the counts those of answers; items without a reply are `not_run`.
  std::uint64_t unknown = 0;  ///< Replies to no item of the suite.
};

/// Scores replies that are there already, without a backend. `path`: JSON lines, plain or gzipped, one for
/// each item: `id` and `text`, and optionally `calls` [{name, arguments as JSON or its text}], `finish`
/// ("stop", "length", "tool_calls", "content_filter"), `reasoning`, `refusal` and `choices`, the sums of
/// logprobs in their order. BFCL's result files are read, too: `result` in the place of `text` and `calls`.
/// Errors: not_found, storage; bad_suite, with file and line, also for a target that the scorer cannot use;
/// those of score::find_scorer().
[[nodiscard]] result<scored_replies> score_replies(const suite& what, const std::string& path,
                                                   const score_options& how);

/// A verdict as one line of JSON without its end: id, category, scored, value, extracted, reason, no_answer,
/// further values by name and steps.
[[nodiscard]] std::string to_json(const item& of, const score::verdict& verdict);

}  // namespace evalcore::run
