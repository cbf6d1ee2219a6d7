#pragma once

#include <cstdint>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// Where the prompts of a plan part from each other, so that a backend can keep what it has computed there.
/// Takes 4 bytes a request beside the plan, which must outlive it.
class cut_points {
 public:
  explicit cut_points(const plan& order);

  /// Units after which its group, the suite, or one of its neighbours in plan order goes on differently, if
  /// they are at least min_prefix; rising.
  [[nodiscard]] std::vector<std::uint32_t> of(std::uint32_t item) const;

 private:
  const plan& plan_;
  std::vector<std::uint32_t> rank_;
};

}  // namespace evalcore::prefix
