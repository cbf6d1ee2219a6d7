#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// A suite along its prefix tree.
struct depth_first {
  std::vector<std::uint32_t> order;   ///< Positions in the suite.
  std::vector<std::uint32_t> shared;  ///< Units in common with the one before in `order`; 0 for the first.
};

/// A prefix tree that does not hold the prompts: it keeps some 24 bytes of each, and 24 for each prefix that
/// two or more have, and reads a prompt again to compare another with it. Branches are told apart by their
/// first `step` units: what prompts have in common beyond a node is found from that length on, and may come
/// out shorter by less than twice as much.
class shared_tree {
 public:
  /// `width`: bytes of a unit.
  shared_tree(std::uint32_t width, std::uint32_t step, const prompt_reader& again);

  /// The prompt at the next position.
  void insert(std::string_view prompt);
  /// Depth first: siblings in the order in which their first prompt was inserted. Leaves nothing behind.
  [[nodiscard]] depth_first walk();

 private:
  /// Positions, and nodes with the upper bit set.
  using ref = std::uint32_t;
  static constexpr ref node_bit = std::uint32_t{1} << 31U;
  static constexpr ref none = 0xFFFF'FFFFU;
  static constexpr std::size_t least_places = 64;

  struct leaf {
    std::uint32_t parent = 0;
    std::uint32_t key = 0;  ///< Of the first step below the parent; after that, the next sibling.
  };
  struct node {
    std::uint32_t parent = 0;
    std::uint32_t key = 0;
    std::uint32_t depth = 0;  ///< Units from the root.
    std::uint32_t first = 0;  ///< The first prompt that has this prefix.
    ref child = none;
  };

  [[nodiscard]] std::uint32_t units(std::string_view prompt) const;
  [[nodiscard]] std::uint32_t common(std::string_view a, std::string_view b, std::uint32_t from) const;
  [[nodiscard]] std::uint32_t key_at(std::string_view prompt, std::uint32_t depth) const;
  [[nodiscard]] bool branches(std::string_view prompt, std::uint32_t depth) const;

  /// Where a branch stands in the table, or the free place for it.
  [[nodiscard]] std::size_t place(std::uint32_t parent, std::uint32_t key) const;
  void attach(std::uint32_t position, std::string_view prompt, std::uint32_t parent);
  /// A node on the way to the branch at `where`; the branch goes on below it.
  std::uint32_t split(std::size_t where, std::uint32_t depth, std::string_view held);
  void list(ref branch);
  void grow();

  [[nodiscard]] bool is_node(ref one) const { return (one & node_bit) != 0; }
  [[nodiscard]] std::uint32_t parent_of(ref one) const;
  [[nodiscard]] std::uint32_t key_of(ref one) const;

  std::uint32_t width_;
  std::uint32_t step_;
  const prompt_reader& again_;
  std::vector<leaf> leaves_;
  std::vector<node> nodes_ = std::vector<node>(1);  ///< The first is the root.
  std::vector<ref> table_;                          ///< Open addressing by (parent, key); a power of two.
  std::size_t listed_ = 0;
};

}  // namespace evalcore::prefix
