#include <evalcore/prefix/twice.hpp>

#include <algorithm>
#include <numeric>

#include "prefix/common_units.hpp"

namespace evalcore::prefix {
namespace {

constexpr std::uint32_t nobody = 0xFFFF'FFFFU;

/// All positions as they go out, group after group.
std::vector<std::uint32_t> by_group(const plan& from) {
  auto out = from.order;
  if (from.suite_order) {
    std::iota(out.begin(), out.end(), 0U);
    return out;
  }
  std::ranges::stable_sort(out, {}, [&](auto item) { return from.block_of(item); });
  std::ranges::stable_sort(out, {}, [&](auto item) { return from.group_of[item]; });
  return out;
}

/// By position, whose copy follows it. Half a turn around a group is one-to-one, so there is at most one.
std::vector<std::uint32_t> guests(const plan& from, std::span<const std::uint32_t> items) {
  std::vector<bool> wanted(from.order.size());
  for (const auto item : items) wanted[item] = true;
  std::vector<std::uint32_t> out(from.order.size(), nobody);
  const auto members = by_group(from);
  const auto of_one = [&](std::size_t a, std::size_t b) {
    return from.suite_order || from.group_of[members[a]] == from.group_of[members[b]];
  };
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    while (end < members.size() && of_one(begin, end)) ++end;
    const auto size = end - begin;
    for (std::size_t at = 0; at < size; ++at) {
      const auto item = members[begin + at];
      if (wanted[item]) out[members[begin + (at + size / 2) % size]] = item;
    }
  }
  return out;
}

/// Writes the new order, place by place.
class writer {
 public:
  writer(const plan& from, plan& into) : common_(from), into_(into) {}

  /// `item`: the old position, `number`: the new one.
  void put(std::uint32_t item, std::uint32_t number) {
    into_.order.push_back(number);
    into_.shared.push_back(last_ == nobody ? 0 : common_.of(last_, item));
    last_ = item;
  }

 private:
  common_units common_;
  plan& into_;
  std::uint32_t last_ = nobody;
};

}  // namespace

doubled_plan send_twice(const plan& from, std::span<const std::uint32_t> items) {
  const auto guest = guests(from, items);
  doubled_plan out;
  auto& made = out.order;
  made.exact = from.exact;
  made.suite_order = from.suite_order;
  made.min_prefix = from.min_prefix;
  made.blocks = from.blocks;
  made.invariant_units = from.invariant_units;
  made.total_units = from.total_units;
  made.groups = from.groups;

  std::vector<std::uint32_t> number(from.order.size());
  const auto add = [&](std::uint32_t item, bool second) {
    out.of.push_back(item);
    out.second.push_back(second);
    made.lengths.push_back(from.lengths[item]);
    made.group_of.push_back(from.group_of[item]);
  };
  for (std::uint32_t item = 0; item < number.size(); ++item) {
    number[item] = static_cast<std::uint32_t>(out.of.size());
    add(item, false);
    if (guest[item] == nobody) continue;
    add(guest[item], true);
    made.groups[from.group_of[guest[item]]].items += 1;
    made.total_units += from.lengths[guest[item]];
  }
  writer order(from, made);
  for (const auto item : from.order) {
    order.put(item, number[item]);
    if (guest[item] != nobody) order.put(guest[item], number[item] + 1);
  }
  for (auto& one : made.groups) one.first = number[one.first];
  return out;
}

}  // namespace evalcore::prefix
