#include <evalcore/prefix/cut_points.hpp>

#include <algorithm>

namespace evalcore::prefix {
namespace {

/// How many requests ahead are looked at. What is shared beyond them is found again from a later request.
constexpr std::size_t ahead = 256;

}  // namespace

cut_points::cut_points(const plan& order) : plan_(order), rank_(order.order.size()) {
  for (std::uint32_t place = 0; place < plan_.order.size(); ++place) rank_[plan_.order[place]] = place;
}

std::vector<std::uint32_t> cut_points::of(std::uint32_t item) const {
  std::vector<std::uint32_t> cuts;
  const std::size_t begin = std::size_t{rank_[item]} + 1;
  const auto end = std::min(begin + ahead, plan_.shared.size());
  for (auto place = begin; place < end; ++place) {
    const auto shared = std::min(plan_.shared[place], cuts.empty() ? plan_.shared[place] : cuts.back());
    if (shared < plan_.min_prefix) break;
    if (cuts.empty() || shared < cuts.back()) cuts.push_back(shared);
  }
  std::ranges::reverse(cuts);
  return cuts;
}

}  // namespace evalcore::prefix
