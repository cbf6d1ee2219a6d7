#pragma once

#include <cstdint>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// Deals the requests of a suite to several machines so that each has about the same to compute, and what
/// shares a prefix stays together. Deterministic.
class dealer {
 public:
  /// `shards`: at least 1.
  explicit dealer(std::uint32_t shards) : loads_(shards) {}

  /// For each request of the plan its shard, from 0. Groups go whole, the one with most to compute first, to
  /// the shard that has least; one that is half as much again as a
  /// shard's even part of the plan, or more, is cut into about even parts, since its prefix computed once
  /// more costs less than machines that wait. What was dealt before counts.
  [[nodiscard]] std::vector<std::uint32_t> deal(const plan& order);

 private:
  std::vector<std::uint64_t> loads_;  ///< Units to compute, by shard.
};

}  // namespace evalcore::prefix
