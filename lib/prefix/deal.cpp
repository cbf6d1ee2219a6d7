#include <evalcore/prefix/deal.hpp>

#include <algorithm>
#include <utility>

namespace evalcore::prefix {
namespace {

struct piece {
  std::vector<std::uint32_t> members;
  std::uint64_t work = 0;  ///< Units to compute: the prefix once, then what each adds.
};

/// The plan's requests by group, in plan order.
std::vector<std::vector<std::uint32_t>> members_of(const plan& order) {
  std::vector<std::vector<std::uint32_t>> all(order.groups.size());
  for (const auto item : order.order) all[order.group_of[item]].push_back(item);
  return all;
}

/// What a member adds to its group's prefix.
std::uint64_t added(const plan& order, std::uint32_t member) {
  return order.lengths[member] - order.groups[order.group_of[member]].prefix_units;
}

/// A group in `parts` pieces, each with as much of what its members add.
void cut(const plan& order, const piece& whole, std::uint64_t parts, std::vector<piece>& into) {
  const auto prefix = order.groups[order.group_of[whole.members.front()]].prefix_units;
  const auto all = whole.work - prefix;
  std::uint64_t so_far = 0;
  std::uint64_t begun = 0;
  for (const auto member : whole.members) {
    const auto adds = added(order, member);
    // By where its middle lies.
    const auto part = all == 0 ? 0 : std::min(parts - 1, (so_far + adds / 2) * parts / all);
    if (begun == 0 || part >= begun) {
      into.push_back({{}, prefix});
      begun = part + 1;
    }
    into.back().members.push_back(member);
    into.back().work += adds;
    so_far += adds;
  }
}

}  // namespace

std::vector<std::uint32_t> dealer::deal(const plan& order) {
  std::vector<piece> groups;
  std::uint64_t total = 0;
  for (auto& members : members_of(order)) {
    piece whole{std::move(members)};
    whole.work = order.groups[order.group_of[whole.members.front()]].prefix_units;
    for (const auto member : whole.members) whole.work += added(order, member);
    total += whole.work;
    groups.push_back(std::move(whole));
  }
  const auto even = std::max<std::uint64_t>(1, (total + loads_.size() - 1) / loads_.size());
  std::vector<piece> pieces;
  for (const auto& one : groups) {
    cut(order, one, std::max<std::uint64_t>(1, (one.work + even / 2) / even), pieces);
  }
  std::ranges::stable_sort(pieces, std::ranges::greater(), &piece::work);

  std::vector<std::uint32_t> shard_of(order.order.size());
  for (const auto& one : pieces) {
    const auto least = std::ranges::min_element(loads_);
    *least += one.work;
    for (const auto member : one.members)
      shard_of[member] = static_cast<std::uint32_t>(least - loads_.begin());
  }
  return shard_of;
}

}  // namespace evalcore::prefix
