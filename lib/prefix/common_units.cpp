#include "prefix/common_units.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace evalcore::prefix {

common_units::common_units(const plan& order) : plan_(order), rank_(order.order.size()) {
  for (std::uint32_t rank = 0; rank < rank_.size(); ++rank) rank_[order.order[rank]] = rank;
  std::vector<std::uint32_t> of_one;
  for (std::size_t at = 0; at < order.shared.size(); at += block) {
    const auto end = std::min(at + block, order.shared.size());
    of_one.push_back(*std::min_element(&order.shared[at], &order.shared[end - 1] + 1));
  }
  const auto blocks = of_one.size();
  of_blocks_.push_back(std::move(of_one));
  for (std::size_t width = 1; width * 2 <= blocks; width *= 2) {
    const auto& half = of_blocks_.back();
    std::vector<std::uint32_t> both(half.size() - width);
    for (std::size_t at = 0; at < both.size(); ++at) both[at] = std::min(half[at], half[at + width]);
    of_blocks_.push_back(std::move(both));
  }
}

std::uint32_t common_units::of(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return plan_.lengths[a];
  const auto [low, high] = std::minmax(rank_[a], rank_[b]);
  return least(low + 1, high);
}

std::uint32_t common_units::least(std::uint32_t first, std::uint32_t last) const {
  const auto& shared = plan_.shared;
  const auto begin = first / block + 1;  // Whole blocks between the two.
  const auto end = last / block;
  if (begin >= end) return *std::min_element(&shared[first], &shared[last] + 1);
  auto found = std::min(*std::min_element(&shared[first], &shared[std::size_t{begin} * block - 1] + 1),
                        *std::min_element(&shared[std::size_t{end} * block], &shared[last] + 1));
  const auto level = static_cast<std::uint32_t>(std::bit_width(end - begin) - 1);
  const auto& widest = of_blocks_[level];
  return std::min({found, widest[begin], widest[end - (std::uint32_t{1} << level)]});
}

}  // namespace evalcore::prefix
