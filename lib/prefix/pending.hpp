#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <evalcore/prefix/plan.hpp>

#include "prefix/number_set.hpp"

namespace evalcore::prefix {

/// What has not gone out yet, by group. Groups without members in the current block wait for the next.
class pending {
 public:
  /// Groups that are looked at for one decision; bounds its cost in a suite of many groups.
  static constexpr std::size_t look_ahead = 64;

  explicit pending(const plan& order);

  [[nodiscard]] bool empty() const noexcept { return items_ == 0; }
  [[nodiscard]] std::size_t items() const noexcept { return items_; }
  [[nodiscard]] std::uint32_t items(std::uint32_t group) const { return lanes_[group].items; }
  /// Whether it has one in the current block.
  [[nodiscard]] bool has(std::uint32_t group) const { return waiting_.has(group); }
  /// Of the members in the current block, the part that has not gone out.
  [[nodiscard]] double left(std::uint32_t group) const {
    return static_cast<double>(lanes_[group].in_block) / lanes_[group].in_block_at_first;
  }
  /// Units behind the shared prefix, of all that waits and of one group.
  [[nodiscard]] std::uint64_t suffix_units() const noexcept { return suffix_units_; }
  [[nodiscard]] std::uint64_t suffix_units(std::uint32_t group) const { return lanes_[group].suffix_units; }

  /// The next member of a group that has one.
  [[nodiscard]] std::uint32_t head(std::uint32_t group) const { return lanes_[group].head; }
  std::uint32_t pop(std::uint32_t group);
  /// The first group from this one on that has members in it, in plan order.
  [[nodiscard]] std::optional<std::uint32_t> group_from(std::uint32_t group) const {
    return waiting_.at_or_after(group);
  }
  /// The first groups that have members in it, in plan order.
  [[nodiscard]] std::vector<std::uint32_t> groups() const;

 private:
  struct lane {
    std::uint64_t suffix_units = 0;
    std::uint32_t head = 0;
    std::uint32_t items = 0;
    std::uint32_t in_block = 0;
    std::uint32_t in_block_at_first = 0;
  };

  void list(std::uint32_t item);
  /// To the next block that has members; there is one.
  void open_block();
  [[nodiscard]] std::uint32_t suffix_of(std::uint32_t group, std::uint32_t item) const;

  const plan& plan_;
  std::vector<lane> lanes_;
  std::vector<std::uint32_t> next_;  ///< By item, the one after it in its group.
  number_set waiting_;               ///< Groups with members in the current block.
  std::uint32_t block_ = 0;          ///< The one after the current.
  std::size_t items_ = 0;
  std::uint64_t suffix_units_ = 0;
};

}  // namespace evalcore::prefix
