#include "prefix/shared_tree.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace evalcore::prefix {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15ULL;
  return value ^ (value >> 29U);
}

/// Bytes that two texts have in common from the start.
std::size_t common_bytes(std::string_view a, std::string_view b) {
  // Whole blocks first: memcmp compares them many times faster than a loop over bytes.
  constexpr std::size_t block = 256;
  const std::size_t bound = std::min(a.size(), b.size());
  std::size_t at = 0;
  while (bound - at >= block && std::memcmp(a.data() + at, b.data() + at, block) == 0) at += block;
  while (at < bound && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

shared_tree::shared_tree(std::uint32_t width, std::uint32_t step, const prompt_reader& again)
    : width_(width), step_(step), again_(again), table_(least_places, none) {}

void shared_tree::insert(std::string_view prompt) {
  const auto position = static_cast<std::uint32_t>(leaves_.size());
  leaves_.emplace_back();
  std::uint32_t at = 0;
  while (branches(prompt, nodes_[at].depth)) {
    const auto depth = nodes_[at].depth;
    const auto where = place(at, key_at(prompt, depth));
    const ref met = table_[where];
    if (met == none) break;
    const auto held = again_(is_node(met) ? nodes_[met & ~node_bit].first : met);
    auto shared = common(prompt, held, depth);
    if (is_node(met)) {
      const auto end = nodes_[met & ~node_bit].depth;
      if (shared >= end) {
        at = met & ~node_bit;
        continue;
      }
      // The lower part must be long enough to be told apart.
      shared = std::min(shared, end - std::min(end, step_));
    }
    if (shared < depth + step_) break;
    at = split(where, shared, held);
    break;
  }
  attach(position, prompt, at);
}

depth_first shared_tree::walk() {
  // Not {}, which would keep the memory.
  table_ = std::vector<ref>();
  // Lists of children: the last goes in front first.
  std::vector<std::uint32_t> by_first(nodes_.size() - 1);
  std::iota(by_first.begin(), by_first.end(), 1U);
  std::ranges::sort(by_first, {}, [this](auto one) { return nodes_[one].first; });
  for (auto& one : leaves_) one.key = none;
  for (auto& one : nodes_) one.key = none;
  const auto push = [this](ref one) {
    auto& sibling = is_node(one) ? nodes_[one & ~node_bit].key : leaves_[one].key;
    auto& head = nodes_[parent_of(one)].child;
    sibling = head;
    head = one;
  };
  for (auto position = static_cast<std::uint32_t>(leaves_.size()); position-- > 0;) {
    push(position);
    for (; !by_first.empty() && nodes_[by_first.back()].first == position; by_first.pop_back()) {
      push(by_first.back() | node_bit);
    }
  }
  by_first = std::vector<std::uint32_t>();

  depth_first out;
  out.order.reserve(leaves_.size());
  out.shared.reserve(leaves_.size());
  std::uint32_t lowest = 0;  // Depth of the shallowest node passed since the last prompt.
  ref at = nodes_[0].child;
  while (at != none) {
    if (is_node(at)) {
      at = nodes_[at & ~node_bit].child;
      continue;
    }
    out.order.push_back(at);
    out.shared.push_back(lowest);
    lowest = nodes_[leaves_[at].parent].depth;
    ref next = leaves_[at].key;
    for (auto above = leaves_[at].parent; next == none && above != 0; above = nodes_[above].parent) {
      next = nodes_[above].key;
      lowest = std::min(lowest, nodes_[nodes_[above].parent].depth);
    }
    at = next;
  }
  leaves_ = std::vector<leaf>();
  nodes_ = std::vector<node>(1);
  table_.assign(least_places, none);
  listed_ = 0;
  return out;
}

std::uint32_t shared_tree::units(std::string_view prompt) const {
  return static_cast<std::uint32_t>(prompt.size() / width_);
}

std::uint32_t shared_tree::common(std::string_view a, std::string_view b, std::uint32_t from) const {
  const std::size_t skipped = std::size_t{from} * width_;
  if (b.size() < skipped) return 0;
  return from + static_cast<std::uint32_t>(common_bytes(a.substr(skipped), b.substr(skipped)) / width_);
}

std::uint32_t shared_tree::key_at(std::string_view prompt, std::uint32_t depth) const {
  const auto step = prompt.substr(std::size_t{depth} * width_, std::size_t{step_} * width_);
  return static_cast<std::uint32_t>(mix(std::hash<std::string_view>{}(step)));
}

bool shared_tree::branches(std::string_view prompt, std::uint32_t depth) const {
  return units(prompt) >= depth + step_;
}

std::size_t shared_tree::place(std::uint32_t parent, std::uint32_t key) const {
  const auto mask = table_.size() - 1;
  auto at = mix((std::uint64_t{parent} << 32U) | key) & mask;
  while (table_[at] != none && (parent_of(table_[at]) != parent || key_of(table_[at]) != key)) {
    at = (at + 1) & mask;
  }
  return at;
}

void shared_tree::attach(std::uint32_t position, std::string_view prompt, std::uint32_t parent) {
  leaves_[position].parent = parent;
  if (!branches(prompt, nodes_[parent].depth)) return;
  leaves_[position].key = key_at(prompt, nodes_[parent].depth);
  // Where another branch stands in the way, this one cannot be found; it is none the less walked.
  list(position);
}

std::uint32_t shared_tree::split(std::size_t where, std::uint32_t depth, std::string_view held) {
  const ref below = table_[where];
  const auto made = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.parent = parent_of(below),
                    .key = key_of(below),
                    .depth = depth,
                    .first = is_node(below) ? nodes_[below & ~node_bit].first : below});
  table_[where] = made | node_bit;
  auto& parent = is_node(below) ? nodes_[below & ~node_bit].parent : leaves_[below].parent;
  auto& key = is_node(below) ? nodes_[below & ~node_bit].key : leaves_[below].key;
  parent = made;
  if (branches(held, depth)) {
    key = key_at(held, depth);
    list(below);
  }
  return made;
}

void shared_tree::list(ref branch) {
  const auto where = place(parent_of(branch), key_of(branch));
  if (table_[where] != none) return;
  table_[where] = branch;
  if (++listed_ * 4 > table_.size() * 3) grow();
}

void shared_tree::grow() {
  auto before = std::vector<ref>(table_.size() * 2, none);
  before.swap(table_);
  for (const ref one : before) {
    if (one != none) table_[place(parent_of(one), key_of(one))] = one;
  }
}

std::uint32_t shared_tree::parent_of(ref one) const {
  return is_node(one) ? nodes_[one & ~node_bit].parent : leaves_[one].parent;
}

std::uint32_t shared_tree::key_of(ref one) const {
  return is_node(one) ? nodes_[one & ~node_bit].key : leaves_[one].key;
}

}  // namespace evalcore::prefix
