#include "prefix/pending.hpp"

#include <algorithm>

namespace evalcore::prefix {

pending::pending(const plan& order)
    : plan_(order),
      lanes_(order.groups.size()),
      next_(order.order.size()),
      waiting_(order.groups.size()),
      items_(order.order.size()) {
  // By block, then in plan order; the last goes in front first.
  if (order.blocks == 1) {
    for (auto item = order.order.rbegin(); item != order.order.rend(); ++item) list(*item);
  } else {
    auto by_block = order.order;
    std::ranges::stable_sort(by_block, {}, [&](auto item) { return order.block_of(item); });
    for (auto item = by_block.rbegin(); item != by_block.rend(); ++item) list(*item);
  }
  if (items_ > 0) open_block();
}

void pending::list(std::uint32_t item) {
  const auto group = plan_.group_of[item];
  auto& at = lanes_[group];
  next_[item] = at.head;
  at.head = item;
  ++at.items;
  at.suffix_units += suffix_of(group, item);
  suffix_units_ += suffix_of(group, item);
}

void pending::open_block() {
  for (bool any = false; !any; ++block_) {
    for (std::uint32_t group = 0; group < lanes_.size(); ++group) {
      auto& at = lanes_[group];
      std::uint32_t item = at.head;
      while (at.in_block < at.items && plan_.block_of(item) == block_) {
        ++at.in_block;
        item = next_[item];
      }
      if (at.in_block == 0) continue;
      at.in_block_at_first = at.in_block;
      waiting_.insert(group);
      any = true;
    }
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
  --at.items;
  if (--at.in_block == 0) waiting_.erase(group);
  if (items_ > 0 && !group_from(0)) open_block();
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
