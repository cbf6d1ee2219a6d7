#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace evalcore::prefix {

/// What a prompt is made of: token ids where the backend tokenizes, else bytes widened to 32 bits.
using unit = std::int32_t;
using sequence = std::vector<unit>;

/// Requests that run next to each other because they share a prefix, and share less with all others. The
/// members of a suite that share nothing worth a group of their own are gathered in one; its prefix may be
/// short, down to 0.
struct group {
  std::uint32_t prefix_units = 0;      ///< Length of what all members share; 0 for a group of one.
  std::vector<std::uint32_t> members;  ///< Positions in the suite, in plan order.
};

/// The order in which requests go out, and what that is expected to save.
struct plan {
  bool exact = false;                 ///< Units are tokens; otherwise they are bytes and counts estimates.
  bool suite_order = false;           ///< `order` is the suite's: nothing is moved and nobody waits.
  std::uint32_t min_prefix = 16;      ///< Units below which sharing is not worth a wait.
  std::vector<std::uint32_t> order;   ///< A permutation of the suite.
  std::vector<group> groups;          ///< By their first member in `order`; every request is in exactly one.
  std::uint32_t invariant_units = 0;  ///< Shared by all requests of the suite; 0 for fewer than two.
  std::uint64_t total_units = 0;      ///< Of all prompts.
};

struct options {
  bool suite_order = false;       ///< Keep the suite's order.
  std::uint32_t min_prefix = 16;  ///< Units below which sharing is not worth a group; at least 1.
};

/// Orders a suite depth-first along the radix tree of its prompts, siblings by their first position in the
/// suite, so that what shares most runs next to each other. Deterministic. Time and memory are linear in
/// the units.
///
/// Groups: requests stand in a group of their own when they share at least `min_prefix` units, and a quarter,
/// more with each other than with the rest around them; so a short common template does not hide the families
/// below it, and two questions that begin alike do not leave theirs.
[[nodiscard]] plan make_plan(std::span<const sequence> prompts, bool exact, const options& how);

/// Units that `a` and `b` have in common from the start.
[[nodiscard]] std::uint32_t common_prefix(std::span<const unit> a, std::span<const unit> b) noexcept;

}  // namespace evalcore::prefix
