#include <evalcore/stats/multiplicity.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace evalcore::stats {

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> out(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, left * p_values[order[rank]]));
    out[order[rank]] = largest;
  }
  return out;
}

double intersection_union(std::span<const double> p_values) {
  return p_values.empty() ? 1 : std::ranges::max(p_values);
}

}  // namespace evalcore::stats
