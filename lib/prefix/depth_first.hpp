#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// A suite along its radix tree.
struct depth_first {
  std::vector<std::uint32_t> order;   ///< Positions in the suite.
  std::vector<std::uint32_t> shared;  ///< Units in common with the one before in `order`; 0 for the first.
};

[[nodiscard]] depth_first walk_depth_first(std::span<const sequence> prompts);

}  // namespace evalcore::prefix
