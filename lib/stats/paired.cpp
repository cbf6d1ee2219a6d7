#include <evalcore/stats/paired.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/bisect.hpp"
#include "stats/distributions.hpp"

namespace evalcore::stats {

std::optional<estimate> paired_difference(std::span<const pair> pairs,
                                          std::span<const std::uint64_t> clusters) {
  std::vector<double> differences;
  differences.reserve(pairs.size());
  for (const auto& one : pairs) differences.push_back(one.second - one.first);
  return clusters.empty() ? mean_of(differences) : clustered_mean(differences, clusters);
}

double mcnemar_exact(std::uint64_t only_first, std::uint64_t only_second) {
  if (only_first == only_second) return 1;
  return std::min(1.0, 2 * fair_coin_at_most(std::min(only_first, only_second), only_first + only_second));
}

double tango_statistic(std::uint64_t gained, std::uint64_t lost, std::uint64_t pairs, double difference) {
  const auto n = static_cast<double>(pairs);
  const auto b = static_cast<double>(gained);
  const auto c = static_cast<double>(lost);
  // The likeliest rate of losses if the difference is that: the greater root of 2n q² + linear q + constant.
  const double linear = (2 * n - b + c) * difference - b - c;
  const double constant = -c * difference * (1 - difference);
  const double root = std::sqrt(std::max(0.0, linear * linear - 8 * n * constant));
  const double rate_lost = linear > 0 ? -2 * constant / (linear + root) : (root - linear) / (4 * n);
  const double variance = n * (2 * rate_lost + difference * (1 - difference));
  const double excess = b - c - n * difference;
  if (variance > 0) return excess / std::sqrt(variance);
  return excess == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), excess);
}

interval tango_interval(std::uint64_t gained, std::uint64_t lost, std::uint64_t pairs, double confidence) {
  interval out{-1, 1};
  if (pairs == 0) return out;
  const double z = normal_quantile_of_tail((1 - confidence) / 2);
  const double seen = (static_cast<double>(gained) - static_cast<double>(lost)) / static_cast<double>(pairs);
  const auto statistic = [&](double difference) { return tango_statistic(gained, lost, pairs, difference); };
  if (lost < pairs) out.low = bisect(-1, seen, [&](double at) { return statistic(at) > z; });
  if (gained < pairs) out.high = bisect(seen, 1, [&](double at) { return statistic(at) > -z; });
  return out;
}

}  // namespace evalcore::stats
