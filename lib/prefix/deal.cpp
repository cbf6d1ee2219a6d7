#include <evalcore/prefix/deal.hpp>

#include <algorithm>
#include <utility>

namespace evalcore::prefix {
namespace {

struct piece {
  std::vector<std::uint32_t> members;
  std::uint64_t work = 0;  ///< Units to compute: the prefix once, then what each adds.
};

/// A group in `parts` pieces, each with as much of what its members add.
void cut(const group& whole, std::span<const std::uint64_t> lengths, std::uint64_t parts,
         std::vector<piece>& into) {
  const auto added = [&](std::uint32_t member) { return lengths[member] - whole.prefix_units; };
  std::uint64_t all = 0;
  for (const auto member : whole.members) all += added(member);
  std::uint64_t so_far = 0;
  std::uint64_t begun = 0;
  for (const auto member : whole.members) {
    // By where its middle lies.
    const auto middle = so_far + added(member) / 2;
    const auto part = all == 0 ? 0 : std::min(parts - 1, middle * parts / all);
    if (begun == 0 || part >= begun) {
      into.push_back({{}, whole.prefix_units});
      begun = part + 1;
    }
    into.back().members.push_back(member);
    into.back().work += added(member);
    so_far += added(member);
  }
}

std::uint64_t work_of(const group& one, std::span<const std::uint64_t> lengths) {
  std::uint64_t work = one.prefix_units;
  for (const auto member : one.members) work += lengths[member] - one.prefix_units;
  return work;
}

}  // namespace

std::vector<std::uint32_t> dealer::deal(const plan& order, std::span<const std::uint64_t> lengths) {
  std::uint64_t total = 0;
  for (const auto& one : order.groups) total += work_of(one, lengths);
  const auto even = std::max<std::uint64_t>(1, (total + loads_.size() - 1) / loads_.size());
  std::vector<piece> pieces;
  for (const auto& one : order.groups) {
    cut(one, lengths, std::max<std::uint64_t>(1, (work_of(one, lengths) + even / 2) / even), pieces);
  }
  std::ranges::stable_sort(pieces, std::ranges::greater(), &piece::work);

  std::vector<std::uint32_t> shard_of(lengths.size());
  for (const auto& one : pieces) {
    const auto least = std::ranges::min_element(loads_);
    *least += one.work;
    for (const auto member : one.members)
      shard_of[member] = static_cast<std::uint32_t>(least - loads_.begin());
  }
  return shard_of;
}

}  // namespace evalcore::prefix
