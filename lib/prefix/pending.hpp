#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// What has not gone out yet, by group.
class pending {
 public:
  /// Groups that are looked at for one decision; bounds its cost in a suite of many groups.
  static constexpr std::size_t look_ahead = 64;

  pending(const plan& order, std::span<const sequence> prompts);

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::size_t items() const noexcept { return items_; }
  [[nodiscard]] std::size_t items(std::uint32_t group) const { return lanes_[group].size() - cursor_[group]; }
  /// Units behind the shared prefix, of all that waits and of one group.
  [[nodiscard]] std::uint64_t suffix_units() const noexcept { return suffix_units_; }
  [[nodiscard]] std::uint64_t suffix_units(std::uint32_t group) const { return group_suffix_[group]; }

  [[nodiscard]] bool has(std::uint32_t group) const { return items(group) > 0; }
  /// The next member of a group that has one.
  [[nodiscard]] std::uint32_t head(std::uint32_t group) const { return lanes_[group][cursor_[group]]; }
  std::uint32_t pop(std::uint32_t group);
  /// The first groups that have members left, in plan order.
  [[nodiscard]] std::vector<std::uint32_t> groups() const;

 private:
  [[nodiscard]] std::uint64_t suffix_of(std::uint32_t group, std::uint32_t item) const;

  std::span<const sequence> prompts_;
  std::vector<std::uint32_t> prefix_;              ///< By group; never less than what the whole suite shares.
  std::vector<std::vector<std::uint32_t>> lanes_;  ///< By group, its items in the order of the plan.
  std::vector<std::size_t> cursor_;
  std::vector<std::uint64_t> group_suffix_;
  std::set<std::uint32_t> waiting_;
  std::size_t items_ = 0;
  std::uint64_t suffix_units_ = 0;
};

}  // namespace evalcore::prefix
