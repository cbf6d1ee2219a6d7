#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <evalcore/prefix/plan.hpp>

#include "prefix/common_units.hpp"
#include "prefix/number_set.hpp"

namespace evalcore::prefix {

/// What has not gone out yet, by group. Groups without members in the current block wait for the next, and
/// what is told of a group is told of its members in the block. Takes 8 bytes a group, and 4 a request of the
/// block where there are several.
class pending {
 public:
  /// Groups that are looked at for one decision; bounds its cost in a suite of many groups.
  static constexpr std::size_t look_ahead = 64;

  /// Both must outlive it.
  pending(const plan& order, const common_units& places);

  [[nodiscard]] bool empty() const noexcept { return items_ == 0; }
  /// Of the whole suite.
  [[nodiscard]] std::size_t items() const noexcept { return items_; }
  /// Of the current block.
  [[nodiscard]] std::size_t block_items() const noexcept { return block_items_; }
  [[nodiscard]] std::uint32_t items(std::uint32_t group) const { return lanes_[group].items; }
  [[nodiscard]] bool has(std::uint32_t group) const { return waiting_.has(group); }
  /// The part that has not gone out, of what a block has on average.
  [[nodiscard]] double left(std::uint32_t group) const {
    return static_cast<double>(items(group)) * plan_.blocks / plan_.groups[group].items;
  }
  /// Units behind the shared prefix, of the whole suite.
  [[nodiscard]] std::uint64_t suffix_units() const noexcept { return suffix_units_; }
  /// Whether a group has so many of them.
  [[nodiscard]] bool has_suffix_units(std::uint32_t group, std::uint64_t units) const;

  /// The next member of a group that has one.
  [[nodiscard]] std::uint32_t head(std::uint32_t group) const { return block_[lanes_[group].next]; }
  std::uint32_t pop(std::uint32_t group);
  /// The first group from this one on that has members, in plan order.
  [[nodiscard]] std::optional<std::uint32_t> group_from(std::uint32_t group) const {
    return waiting_.at_or_after(group);
  }
  /// The first groups that have members, in plan order.
  [[nodiscard]] std::vector<std::uint32_t> groups() const;

 private:
  struct lane {
    std::uint32_t next = 0;  ///< Place in the block of the next member.
    std::uint32_t items = 0;
  };

  /// To the next block.
  void open_block();
  [[nodiscard]] std::uint32_t suffix_of(std::uint32_t group, std::uint32_t item) const;

  const plan& plan_;
  const common_units& places_;
  std::vector<lane> lanes_;
  number_set waiting_;                    ///< Groups with members in the current block.
  std::span<const std::uint32_t> block_;  ///< Its items in plan order, those that went out too.
  std::vector<std::uint32_t> own_block_;  ///< Where it is not the whole plan.
  std::uint32_t opened_ = 0;              ///< Blocks.
  std::size_t items_ = 0;
  std::size_t block_items_ = 0;
  std::uint64_t suffix_units_ = 0;
};

}  // namespace evalcore::prefix
