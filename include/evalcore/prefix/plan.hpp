#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace evalcore::prefix {

/// What a prompt is made of: token ids where the backend tokenizes, else bytes.
using unit = std::int32_t;
using sequence = std::vector<unit>;

/// Requests that run next to each other because they share a prefix, and share less with all others. The
/// members of a suite that share nothing worth a group of their own are gathered in one; its prefix may be
/// short, down to 0.
struct group {
  std::uint32_t prefix_units = 0;  ///< Length of what all members share; 0 for a group of one.
  std::uint32_t items = 0;
  std::uint32_t first = 0;  ///< Position in the suite of its first member in plan order.
};

/// The order in which requests go out, and what that is expected to save. Takes 16 bytes a request and 12 a
/// group.
struct plan {
  bool exact = false;                   ///< Units are tokens; otherwise they are bytes and counts estimates.
  bool suite_order = false;             ///< Sent in the suite's order: nothing is moved and nobody waits.
  std::uint32_t min_prefix = 16;        ///< Units below which sharing is not worth a wait.
  std::vector<std::uint32_t> order;     ///< A permutation of the suite, depth first along the prefixes.
  std::vector<std::uint32_t> shared;    ///< By place in `order`: units in common with the one before.
  std::vector<std::uint32_t> lengths;   ///< By position in the suite: units of the prompt.
  std::vector<std::uint32_t> group_of;  ///< By position in the suite: position in `groups`.
  std::vector<group> groups;  ///< By their first member in `order`; every request is in exactly one.
  /// The suite is sent in so many blocks of positions that follow each other, all of one before any of the
  /// next.
  std::uint32_t blocks = 1;
  std::uint32_t invariant_units = 0;  ///< Shared by all requests of the suite; 0 for fewer than two.
  std::uint64_t total_units = 0;      ///< Of all prompts.

  /// Of prompts in bytes roughly, as in English and code.
  [[nodiscard]] std::uint32_t units_per_token() const noexcept { return exact ? 1 : 4; }
  /// Of an item; from 0.
  [[nodiscard]] std::uint32_t block_of(std::uint32_t item) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{item} * blocks / order.size());
  }
  /// Positions in the suite, in plan order.
  [[nodiscard]] std::vector<std::uint32_t> members(std::uint32_t group) const;
};

struct options {
  bool suite_order = false;  ///< Keep the suite's order.
  /// Positions are by chance (see deal()): the suite is then sent in blocks of at least 256, each of them a
  /// fair sample of it, as many as cost at most 2 % when every prefix is computed again in each.
  bool dealt = false;
  std::uint32_t min_prefix = 16;  ///< Units below which sharing is not worth a group; at least 1.
};

/// The bytes of a prompt that was added before, valid until the next call; empty where it cannot be had.
using prompt_reader = std::function<std::string_view(std::uint32_t position)>;

/// Orders a suite depth-first along the tree of its prompts, siblings by their first position in the suite,
/// so that what shares most runs next to each other. Deterministic. Does not keep the prompts: while it is
/// made a plan costs about 40 bytes a request, and what is looked at again is read again.
///
/// Groups: requests stand in a group of their own when they share at least `min_prefix` units more with each
/// other than with the rest around them, a sixteenth of what they share with that, and a quarter of it or of
/// what their prompts have beyond it, whichever is less; so neither a short common template nor long common
/// instructions hide the families below them, and two questions that begin alike do not leave theirs.
class planner {
 public:
  /// What a prompt is made of: token ids as 32-bit integers in the machine's order, or bytes. Of bytes, what
  /// prompts share beyond a common prefix is found from 32 on and may come out shorter by up to 64.
  enum class units : std::uint8_t { tokens, bytes };

  planner(units of, const options& how, prompt_reader again);
  ~planner();
  planner(planner&&) noexcept;
  planner& operator=(planner&&) noexcept;

  /// The prompt at the next position of the suite. At most 2^31 - 1 prompts of less than 2^32 units.
  void add(std::string_view prompt);
  /// Plans what was added so far; what follows is planned apart and goes out after it. Bounds what a planner
  /// takes while it works, and prompts from before are not read again.
  void cut();
  /// Once, after the last one.
  [[nodiscard]] plan finish();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// The same for prompts that are at hand. `exact`: the units are tokens, otherwise bytes; told on to the
/// plan.
[[nodiscard]] plan make_plan(std::span<const sequence> prompts, bool exact, const options& how);

/// Positions 0 to count - 1 in an order by chance, the same for the same seed everywhere. A suite that is
/// dealt before it is planned has at every moment answered a fair sample of itself, as far as groups allow.
[[nodiscard]] std::vector<std::uint32_t> deal(std::uint32_t count, std::uint64_t seed);

/// Units that `a` and `b` have in common from the start.
[[nodiscard]] std::uint32_t common_prefix(std::span<const unit> a, std::span<const unit> b) noexcept;

}  // namespace evalcore::prefix
