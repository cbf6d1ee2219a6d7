#pragma once

#include <cstdint>
#include <optional>

#include <evalcore/stats/interval.hpp>

namespace evalcore::stats {

/// A comparison of two treatments of the same items that is to show non-inferiority, one-sided.
struct paired_design {
  double spread = 0;      ///< Standard deviation of the items' differences; above 0.
  double margin = 0;      ///< Above -difference.
  double difference = 0;  ///< True mean of second - first.
  double alpha = usual_alpha;
};

/// Of right-or-wrong scores, of which the share `differing` is right under one treatment alone; `differing`
/// at least |difference|.
[[nodiscard]] double binary_spread(double differing, double difference = 0);

/// The probability that n items show non-inferiority, by the noncentral t distribution (exact for normal
/// differences). 0 for n < 2.
[[nodiscard]] double power_of(const paired_design& of, std::uint64_t n);

/// The fewest items with at least this power, 0 < power < 1. Absent: more than 10^9, or none do.
[[nodiscard]] std::optional<std::uint64_t> items_needed(const paired_design& of, double power);

/// The minimum detectable effect of n items: the smallest margin that they show non-inferiority for with this
/// power if there is no difference, and as well the smallest true gain that they show to be above 0. Absent
/// for n < 2.
[[nodiscard]] std::optional<double> detectable_effect(double spread, std::uint64_t n, double power,
                                                      double alpha = usual_alpha);

}  // namespace evalcore::stats
