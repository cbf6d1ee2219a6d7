#pragma once

#include <cstdint>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// Where the prompts of a plan part from those that follow them, so that a backend can keep what it has
/// computed there. Takes 4 bytes a request beside the plan, which must outlive it.
class cut_points {
 public:
  explicit cut_points(const plan& order);

  /// Units after which one of the next requests, in plan order, goes on differently while it shares at least
  /// min_prefix with this one; rising. In suite order what is looked at is the neighbours.
  [[nodiscard]] std::vector<std::uint32_t> of(std::uint32_t item) const;

 private:
  const plan& plan_;
  std::vector<std::uint32_t> rank_;
};

}  // namespace evalcore::prefix
