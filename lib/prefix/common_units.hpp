#pragma once

#include <cstdint>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// What any two prompts of a plan have in common, without the prompts: in depth-first order it is the least
/// that neighbours between them share. Refers to the plan.
class common_units {
 public:
  explicit common_units(const plan& order);

  [[nodiscard]] std::uint32_t of(std::uint32_t a, std::uint32_t b) const;
  /// Where an item stands in plan::order.
  [[nodiscard]] std::uint32_t rank(std::uint32_t item) const { return rank_[item]; }

 private:
  static constexpr std::uint32_t block = 128;

  [[nodiscard]] std::uint32_t least(std::uint32_t first, std::uint32_t last) const;

  const plan& plan_;
  std::vector<std::uint32_t> rank_;
  /// The least of 2^i whole blocks from each block on.
  std::vector<std::vector<std::uint32_t>> of_blocks_;
};

}  // namespace evalcore::prefix
