#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace evalcore::prefix {

/// A compressed prefix tree over sequences of any hashable unit. It refers to the sequences and does not
/// copy them: they must outlive it. At most two nodes a sequence, whatever the sequences' lengths; insert()
/// takes time linear in the sequence. At most 2^31 - 1 sequences of at most 2^32 - 1 units.
template <std::equality_comparable Unit>
class radix_tree {
 public:
  radix_tree() { nodes_.push_back({}); }

  /// Adds a sequence under a name of the caller's choice. Equal sequences are kept apart by their names.
  void insert(std::uint32_t name, std::span<const Unit> units) {
    std::uint32_t at = root;
    auto rest = units;
    while (!rest.empty()) {
      const auto found = children_.find(step{at, rest.front()});
      if (found == children_.end()) {
        at = append_child(at, rest);
        break;
      }
      std::uint32_t child = found->second;
      const auto edge = nodes_[child].edge;
      const auto until = std::mismatch(edge.begin(), edge.end(), rest.begin(), rest.end()).first;
      const auto shared = static_cast<std::size_t>(until - edge.begin());
      if (shared < edge.size()) child = split(child, shared);
      at = child;
      rest = rest.subspan(shared);
    }
    append_end(at, name);
  }

  /// Calls `visit(name, shared)` for every sequence, depth first: those that end at a node before those that
  /// go on, siblings in the order in which their first sequence was inserted. `shared` is the number of
  /// units in common with the sequence visited before, 0 for the first; no sequence visited earlier has
  /// more in common with this one.
  template <std::invocable<std::uint32_t, std::uint32_t> Visitor>
  void walk(Visitor visit) const {
    std::uint32_t at = root;
    std::uint32_t lowest = 0;  // Depth of the shallowest node passed since the last visit.
    while (true) {
      for (std::uint32_t end = nodes_[at].first_end; end != none; end = ends_[end].next) {
        visit(ends_[end].name, lowest);
        lowest = nodes_[at].depth;
      }
      if (nodes_[at].first_child != none) {
        at = nodes_[at].first_child;
        continue;
      }
      while (at != root && nodes_[at].next_sibling == none) at = nodes_[at].parent;
      if (at == root) return;
      lowest = std::min(lowest, nodes_[nodes_[at].parent].depth);
      at = nodes_[at].next_sibling;
    }
  }

  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_.size(); }

 private:
  static constexpr std::uint32_t root = 0;
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct node {
    std::span<const Unit> edge;  ///< From the parent to here; empty at the root only.
    std::uint32_t depth = 0;
    std::uint32_t parent = none;
    std::uint32_t first_child = none;
    std::uint32_t last_child = none;
    std::uint32_t previous_sibling = none;
    std::uint32_t next_sibling = none;
    std::uint32_t first_end = none;
    std::uint32_t last_end = none;
  };
  struct end_mark {
    std::uint32_t name = 0;
    std::uint32_t next = none;
  };
  struct step {
    std::uint32_t from = 0;
    Unit unit{};
    bool operator==(const step&) const = default;
  };
  struct step_hash {
    std::size_t operator()(const step& one) const noexcept {
      // Ids are small and dense on both sides: without mixing, most steps would share few buckets.
      return (std::hash<Unit>{}(one.unit) * 0x9E3779B97F4A7C15ULL) ^ (one.from * 0xC2B2AE3D27D4EB4FULL);
    }
  };

  std::uint32_t append_child(std::uint32_t parent, std::span<const Unit> edge) {
    const auto child = static_cast<std::uint32_t>(nodes_.size());
    node& above = nodes_[parent];
    const node added{.edge = edge,
                     .depth = above.depth + static_cast<std::uint32_t>(edge.size()),
                     .parent = parent,
                     .previous_sibling = above.last_child};
    (above.first_child == none ? above.first_child : nodes_[above.last_child].next_sibling) = child;
    above.last_child = child;
    nodes_.push_back(added);
    children_.emplace(step{parent, edge.front()}, child);
    return child;
  }

  /// Puts a node into the edge to `lower`, after `shared` of its units and in its place among its siblings.
  std::uint32_t split(std::uint32_t lower, std::size_t shared) {
    const auto upper = static_cast<std::uint32_t>(nodes_.size());
    node inner = nodes_[lower];
    inner.depth -= static_cast<std::uint32_t>(inner.edge.size() - shared);
    inner.edge = inner.edge.first(shared);
    inner.first_child = inner.last_child = lower;
    inner.first_end = inner.last_end = none;
    nodes_.push_back(inner);

    node& above = nodes_[inner.parent];
    (inner.previous_sibling == none ? above.first_child : nodes_[inner.previous_sibling].next_sibling) =
        upper;
    (inner.next_sibling == none ? above.last_child : nodes_[inner.next_sibling].previous_sibling) = upper;
    children_[step{inner.parent, inner.edge.front()}] = upper;

    node& below = nodes_[lower];
    below.edge = below.edge.subspan(shared);
    below.parent = upper;
    below.previous_sibling = below.next_sibling = none;
    children_.emplace(step{upper, below.edge.front()}, lower);
    return upper;
  }

  void append_end(std::uint32_t at, std::uint32_t name) {
    const auto mark = static_cast<std::uint32_t>(ends_.size());
    ends_.push_back({.name = name});
    (nodes_[at].first_end == none ? nodes_[at].first_end : ends_[nodes_[at].last_end].next) = mark;
    nodes_[at].last_end = mark;
  }

  std::vector<node> nodes_;
  std::vector<end_mark> ends_;
  std::unordered_map<step, std::uint32_t, step_hash> children_;
};

}  // namespace evalcore::prefix
