#include "prefix/pending.hpp"

#include <algorithm>
#include <iterator>

namespace evalcore::prefix {

pending::pending(const plan& order, std::span<const sequence> prompts)
    : prompts_(prompts),
      lanes_(order.groups.size()),
      cursor_(order.groups.size(), 0),
      group_suffix_(order.groups.size(), 0),
      items_(order.order.size()) {
  std::vector<std::uint32_t> group_of(prompts.size(), 0);
  for (std::uint32_t g = 0; g < order.groups.size(); ++g) {
    prefix_.push_back(std::max(order.groups[g].prefix_units, order.invariant_units));
    for (const std::uint32_t item : order.groups[g].members) group_of[item] = g;
  }
  for (const std::uint32_t item : order.order) {
    const std::uint32_t g = group_of[item];
    lanes_[g].push_back(item);
    group_suffix_[g] += suffix_of(g, item);
    suffix_units_ += suffix_of(g, item);
    waiting_.insert(g);
  }
}

std::uint64_t pending::suffix_of(std::uint32_t group, std::uint32_t item) const {
  return prompts_[item].size() - prefix_[group];
}

std::uint32_t pending::pop(std::uint32_t group) {
  const std::uint32_t item = lanes_[group][cursor_[group]++];
  group_suffix_[group] -= suffix_of(group, item);
  suffix_units_ -= suffix_of(group, item);
  --items_;
  if (!has(group)) waiting_.erase(group);
  return item;
}

std::vector<std::uint32_t> pending::groups() const {
  const auto count = static_cast<std::ptrdiff_t>(std::min(look_ahead, waiting_.size()));
  return {waiting_.begin(), std::next(waiting_.begin(), count)};
}

}  // namespace evalcore::prefix
