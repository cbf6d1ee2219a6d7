#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <evalcore/stats/interval.hpp>

namespace evalcore::stats {

enum class conclusion : std::uint8_t {
  non_inferior,  ///< Shown to be worse by less than the margin, or better.
  inferior,      ///< Shown to be worse by more than the margin.
  inconclusive,  ///< Neither.
};

/// "non_inferior", …, in static storage.
[[nodiscard]] std::string_view name(conclusion of) noexcept;

/// Whether the second of two treatments of the same items is worse than the first by the margin or more.
struct noninferiority {
  double difference = 0;  ///< Mean of second - first.
  interval bounds;        ///< Two-sided, with the confidence 1 - 2 alpha: the ends are the one-sided bounds.
  /// The probability of data that speak so strongly against a loss of the margin, if that is the loss; and of
  /// data that speak so strongly for a greater one.
  double p_non_inferior = 1;
  double p_inferior = 1;

  [[nodiscard]] conclusion at(double alpha) const noexcept;
};

/// Of right-or-wrong scores, by Tango's score statistic. gained, lost: as for tango_interval(); 0 < margin <
/// 1; 0 < alpha < 0.5.
[[nodiscard]] noninferiority compare_binary(std::uint64_t gained, std::uint64_t lost, std::uint64_t pairs,
                                            double margin, double alpha = usual_alpha);

/// Of scores 0 to 1, by Student's t on the items' differences, second - first. Few differences tell little of
/// the rare great ones: so the bounds are at least 1 - alpha^(1/n) away, the share of items that may differ
/// wholly when none of n did (as the binomial has it). Absent for fewer than two items.
[[nodiscard]] std::optional<noninferiority> compare_scores(std::span<const double> differences, double margin,
                                                           double alpha = usual_alpha);

}  // namespace evalcore::stats
