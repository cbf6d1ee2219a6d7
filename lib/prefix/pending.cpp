#include "prefix/pending.hpp"

#include <algorithm>

namespace evalcore::prefix {

pending::pending(const plan& order)
    : plan_(order),
      lanes_(order.groups.size()),
      next_(order.order.size()),
      waiting_(order.groups.size()),
      items_(order.order.size()) {
  for (auto item = order.order.rbegin(); item != order.order.rend(); ++item) {
    const auto group = order.group_of[*item];
    auto& at = lanes_[group];
    next_[*item] = at.head;
    at.head = *item;
    ++at.items;
    at.suffix_units += suffix_of(group, *item);
    suffix_units_ += suffix_of(group, *item);
    waiting_.insert(group);
  }
}

std::uint32_t pending::suffix_of(std::uint32_t group, std::uint32_t item) const {
  return plan_.lengths[item] - std::max(plan_.groups[group].prefix_units, plan_.invariant_units);
}

std::uint32_t pending::pop(std::uint32_t group) {
  auto& at = lanes_[group];
  const std::uint32_t item = at.head;
  at.head = next_[item];
  at.suffix_units -= suffix_of(group, item);
  suffix_units_ -= suffix_of(group, item);
  --items_;
  if (--at.items == 0) waiting_.erase(group);
  return item;
}

std::vector<std::uint32_t> pending::groups() const {
  std::vector<std::uint32_t> out;
  for (auto group = group_from(0); group && out.size() < look_ahead; group = group_from(*group + 1)) {
    out.push_back(*group);
  }
  return out;
}

}  // namespace evalcore::prefix
