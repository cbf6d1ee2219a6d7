#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/scored_runs.hpp>
#include <evalcore/stats/interval.hpp>
#include <evalcore/stats/paired.hpp>

namespace evalcore::run {

/// How two runs differ on the items that both scored.
struct paired_figures {
  std::uint64_t pairs = 0;
  double first = 0;  ///< Means; 0 without pairs.
  double second = 0;
  std::uint64_t better = 0;  ///< Items that the second scored higher, and lower.
  std::uint64_t worse = 0;
  bool binary = true;  ///< All scores are 0 or 1.
  /// 95 % interval of second - first; absent: of so few pairs nothing can be said.
  std::optional<stats::interval> bounds;
  /// McNemar's exact test of right-or-wrong scores, two-sided; absent where they have parts, or without
  /// pairs.
  std::optional<double> p;

  [[nodiscard]] double difference() const noexcept { return second - first; }
  /// What interval and test are of: "tango" where `binary`, else "t".
  [[nodiscard]] std::string_view kind() const noexcept { return binary ? "tango" : "t"; }
};

[[nodiscard]] paired_figures figures_of(std::span<const stats::pair> pairs);

/// One run against another of the same suite; items by their position in it.
struct comparison {
  std::size_t first = 0;  ///< Of scored_runs::runs.
  std::size_t second = 0;
  std::vector<stats::pair> pairs;  ///< Scores of the items that both scored, in the suite's order.
  paired_figures paired;           ///< Of `pairs`.
  struct category {
    std::string name;
    paired_figures paired;
  };
  std::vector<category> categories;  ///< In the suite's order; empty where it has fewer than two.
  std::vector<std::size_t> changed;  ///< Both scored, differently.
  std::vector<std::size_t> missing;  ///< One or both did not score.
  /// The difference over all items, with those missing as bad for the second as can be, and as good.
  stats::interval difference_bounds{0, 0};
};

[[nodiscard]] comparison compare(const scored_runs& of, std::size_t first, std::size_t second);

/// Scores of all items, with those that one run misses as bad for the second as can be: wrong in the second,
/// right in the first.
[[nodiscard]] std::vector<stats::pair> worst_pairs(const scored_runs& of, std::size_t first,
                                                   std::size_t second);

/// All runs against the first: {suite, items, runs[], comparisons[]}, unknown figures null;
/// docs/statistics.md lists the members.
[[nodiscard]] json::value comparison_json(const scored_runs& of, std::span<const comparison> all);
[[nodiscard]] json::value to_json(const paired_figures& of);

}  // namespace evalcore::run
