#include <evalcore/stats/rate.hpp>

#include <algorithm>
#include <cmath>

#include "stats/distributions.hpp"

namespace evalcore::stats {

interval exact_bounds(std::uint64_t seen, std::uint64_t trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  const auto k = static_cast<double>(seen);
  const auto n = static_cast<double>(trials);
  interval out;
  if (seen > 0) out.low = beta_quantile(k, n - k + 1, tail);
  if (seen < trials) out.high = beta_quantile(k + 1, n - k, 1 - tail);
  return out;
}

interval wilson_interval(std::uint64_t seen, std::uint64_t trials, double confidence) {
  if (trials == 0) return {};
  const double z = normal_quantile_of_tail((1 - confidence) / 2);
  const auto n = static_cast<double>(trials);
  const double rate = static_cast<double>(seen) / n;
  const double shrink = 1 + z * z / n;
  const double centre = (rate + z * z / (2 * n)) / shrink;
  const double half = z / shrink * std::sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
  // At the ends the formula is exact, and rounding must not say that what was seen cannot be.
  return {seen == 0 ? 0 : std::max(0.0, centre - half), seen == trials ? 1 : std::min(1.0, centre + half)};
}

}  // namespace evalcore::stats
