#pragma once

#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/run/summary.hpp>

namespace evalcore::run {

struct merge_options {
  std::vector<std::string> parts;  ///< Stores, at least one.
  std::string into;                ///< The store to make; must not exist.
  std::string suite;               ///< Empty: where the first part's run found it.
  std::string answers;             ///< As for suite::open().
  std::string options_json = "{}";
};

/// What one run would have come to.
struct merged_run {
  summary what;
  row_labels labels;                 ///< As the first part's run was given them, without a time.
  std::vector<std::string> missing;  ///< Ids of items that no part has an answer to or an error of.
};

/// Puts the stores of a suite's shards together into one, as one run would have left it: every attempt, reply
/// and score of the last run of the first part, and of runs of the same suite with the same backend and
/// options in the others. The parts stay as they are, but for what opening a store does.
///
/// Errors: not_found (a part); busy (one that a run has); invalid_argument, by name, for parts that are not
/// of one run (suite, backend, an option that changes answers) and for an item that two of them answer;
/// bad_suite and not_found for a suite that is not there or was changed; storage. Nothing is left in `into`
/// then.
[[nodiscard]] result<merged_run> merge(const merge_options& how);

}  // namespace evalcore::run
