#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace evalcore::prefix {

/// What a prompt is made of: token ids where the backend tokenizes, else bytes widened to 32 bits.
using unit = std::int32_t;
using sequence = std::vector<unit>;

/// Requests that share a prefix worth computing once.
struct group {
  std::uint32_t prefix_units = 0;       ///< Length of what all members share.
  std::vector<std::uint32_t> members;   ///< Positions in the suite, in plan order.
};

/// The order in which requests go out, and what that is expected to save.
struct plan {
  bool exact = false;                   ///< Units are tokens; otherwise they are bytes and counts estimates.
  std::vector<std::uint32_t> order;     ///< A permutation of the suite.
  std::vector<group> groups;            ///< Top level, in order; every request is in exactly one.
  std::uint32_t invariant_units = 0;    ///< Shared by all requests of the suite.
  std::uint64_t total_units = 0;        ///< Of all prompts.
};

struct options {
  bool suite_order = false;        ///< Keep the suite's order.
  std::uint32_t min_prefix = 16;   ///< Units below which sharing is not worth a group.
};

/// Orders a suite depth-first along the radix tree of its prompts, ties by suite order, so that what
/// shares most runs next to each other. Deterministic. Time and memory are linear in the units.
[[nodiscard]] plan make_plan(std::span<const sequence> prompts, bool exact, const options& how);

/// Units that `a` and `b` have in common from the start.
[[nodiscard]] std::uint32_t common_prefix(std::span<const unit> a, std::span<const unit> b) noexcept;

}  // namespace evalcore::prefix
