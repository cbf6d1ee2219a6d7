#include "prefix/pending.hpp"

#include <algorithm>
#include <numeric>

namespace evalcore::prefix {

pending::pending(const plan& order, const common_units& places)
    : plan_(order),
      places_(places),
      lanes_(order.groups.size()),
      waiting_(order.groups.size()),
      items_(order.order.size()) {
  for (const auto item : order.order) suffix_units_ += suffix_of(order.group_of[item], item);
  if (items_ > 0) open_block();
}

void pending::open_block() {
  if (plan_.blocks == 1) {
    block_ = plan_.order;
  } else {
    const auto first_of = [&](std::uint64_t block) {
      return static_cast<std::uint32_t>((block * plan_.order.size() + plan_.blocks - 1) / plan_.blocks);
    };
    own_block_.resize(first_of(opened_ + 1) - first_of(opened_));
    std::iota(own_block_.begin(), own_block_.end(), first_of(opened_));
    std::ranges::sort(own_block_, {}, [&](auto item) { return places_.rank(item); });
    block_ = own_block_;
  }
  ++opened_;
  block_items_ = block_.size();
  for (auto place = static_cast<std::uint32_t>(block_.size()); place-- > 0;) {
    const auto group = plan_.group_of[block_[place]];
    auto& at = lanes_[group];
    at.next = place;
    ++at.items;
    waiting_.insert(group);
  }
}

std::uint32_t pending::suffix_of(std::uint32_t group, std::uint32_t item) const {
  auto shared = std::max(plan_.groups[group].prefix_units, plan_.invariant_units);
  if (plan_.groups[group].items == 1) {  // It has no prefix as a group, but its neighbours have some of it.
    const auto rank = places_.rank(item);
    shared = std::max(shared, plan_.shared[rank]);
    if (rank + 1 < plan_.shared.size()) shared = std::max(shared, plan_.shared[rank + 1]);
  }
  return plan_.lengths[item] - shared;
}

bool pending::has_suffix_units(std::uint32_t group, std::uint64_t units) const {
  auto left = items(group);
  std::uint64_t found = 0;
  for (auto place = lanes_[group].next; left > 0 && found < units; ++place) {
    const auto item = block_[place];
    if (plan_.group_of[item] != group) continue;
    found += suffix_of(group, item);
    --left;
  }
  return found >= units;
}

std::uint32_t pending::pop(std::uint32_t group) {
  auto& at = lanes_[group];
  const std::uint32_t item = block_[at.next];
  suffix_units_ -= suffix_of(group, item);
  --items_;
  --block_items_;
  if (--at.items == 0) {
    waiting_.erase(group);
    if (items_ > 0 && !group_from(0)) open_block();
    return item;
  }
  // Groups below this one may stand between.
  do ++at.next;
  while (plan_.group_of[block_[at.next]] != group);
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
