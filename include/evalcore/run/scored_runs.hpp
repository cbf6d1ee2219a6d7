#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/run/cost.hpp>

namespace evalcore::run {

enum class item_state : std::uint8_t {
  scored,
  unscored,  ///< Answered, but the checker failed.
  errored,   ///< The last attempt failed.
  not_run,   ///< Left over, or not among those asked for (a limit, a shard).
};

/// The enumerator's own name, in static storage.
[[nodiscard]] std::string_view name(item_state of) noexcept;

/// What one run knows of one item of the suite.
struct item_score {
  item_state state = item_state::not_run;
  double value = 0;  ///< 0 … 1; only when scored.
  std::string why;   ///< The reason of `unscored`, the class of `errored`; empty: there is none.
};

/// A run as it stands in its store.
struct scored_run {
  std::string path;   ///< Of the store.
  std::string model;  ///< As its rows name it.
  std::string task;
  std::vector<item_score> items;               ///< By position in the suite.
  double wall_s = 0;                           ///< Of all runs of the store on this suite with this backend.
  std::optional<cost> spent;                   ///< The same; absent: no prices were given.
  std::optional<std::uint64_t> prompt_tokens;  ///< Of the replies, as reported; absent: unknown.
  std::optional<std::uint64_t> completion_tokens;

  [[nodiscard]] std::uint64_t count(item_state of) const noexcept;
  /// Mean over all items, missing ones wrong; and with missing ones right. Nothing without items.
  [[nodiscard]] std::optional<double> score() const noexcept;
  [[nodiscard]] std::optional<double> score_upper_bound() const noexcept;
};

/// Runs of one suite, to be compared item by item.
struct scored_runs {
  std::string suite;                    ///< Its path.
  std::vector<std::string> ids;         ///< Of its items, up to the largest limit of the runs.
  std::vector<std::string> categories;  ///< Empty where an item has none.
  std::vector<scored_run> runs;
};

/// The newest run of each store: its first answers, scored as `evalcore run` would score them now. `suite`:
/// empty: where the first run found it; `answers`: as for suite::open().
///
/// Errors: not_found (a store); busy (one that a run has); invalid_argument, by name, for runs of different
/// suites or scorers; bad_suite and not_found for a suite that is not there or was changed; storage.
[[nodiscard]] result<scored_runs> read_runs(const std::vector<std::string>& stores, const std::string& suite,
                                            const std::string& answers);

}  // namespace evalcore::run
