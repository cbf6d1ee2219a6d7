#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// What a backend with one common cache holds, or will: the prompts of the requests sent so far.
class seen {
 public:
  seen(const plan& order, std::span<const sequence> prompts);

  void sent(std::uint32_t item) { coming_.insert(rank_[item]); }
  void computed(std::uint32_t item);
  void failed(std::uint32_t item);

  /// The most that a prompt has in common with one that was computed, or is being computed.
  [[nodiscard]] std::uint32_t computed_prefix(std::uint32_t item) const { return best(computed_, item); }
  [[nodiscard]] std::uint32_t coming_prefix(std::uint32_t item) const { return best(coming_, item); }
  [[nodiscard]] std::uint32_t prefix(std::uint32_t item) const;

 private:
  [[nodiscard]] std::uint32_t best(const std::set<std::uint32_t>& among, std::uint32_t item) const;

  std::span<const sequence> prompts_;
  // In a depth-first order nothing has more in common with a prompt than its nearest neighbours.
  std::vector<std::uint32_t> by_rank_;
  std::vector<std::uint32_t> rank_;
  std::set<std::uint32_t> computed_;
  std::set<std::uint32_t> coming_;
};

}  // namespace evalcore::prefix
