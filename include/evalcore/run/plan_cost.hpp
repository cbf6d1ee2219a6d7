#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <evalcore/prefix/plan.hpp>
#include <evalcore/prefix/prediction.hpp>
#include <evalcore/run/cost.hpp>

namespace evalcore::run {

/// What a plan is expected to cost.
struct planned_cost {
  pico_usd prompts = 0;
  bool estimated = false;  ///< Prompts were counted in bytes, four of them taken for a token.
  /// At least what answers of the expected length cost, or nothing; no more than those of the greatest
  /// length, where every item has one.
  cost answers;
  std::uint64_t unbounded = 0;  ///< Items without any length.

  [[nodiscard]] cost total() const noexcept;
};

/// `max_tokens`: of each item's answer, 0 where none is generated; `expected_output`: tokens that an answer
/// comes to. Prompts are paid in full but for what the plan predicts to be cached; what caches are paid for
/// in advance is not foreseen.
[[nodiscard]] planned_cost cost_of(const prefix::plan& plan, const prefix::prediction& prediction,
                                   std::span<const std::optional<std::uint32_t>> max_tokens,
                                   std::optional<std::uint64_t> expected_output, const price& at);

}  // namespace evalcore::run
