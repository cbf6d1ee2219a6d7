#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <evalcore/prefix/plan.hpp>

namespace evalcore::prefix {

/// A plan in which some requests go out twice.
struct doubled_plan {
  plan order;
  std::vector<std::uint32_t> of;  ///< By its positions: the position in the plan that it was made of.
  std::vector<bool> second;       ///< By its positions: the copy that was added.
};

/// Adds a second copy of each of `items` (positions in `from`, each once). All others keep their order and
/// their groups. A copy stands half its group away from the first one (in suite order, half the suite), where
/// it meets other neighbours and a cache that has gone on, as in a second run; which of the two goes out
/// first is open. For the plan it has in common with the rest of the group what these have, so nobody waits
/// for its twin; a backend may find more of it in its cache than is predicted.
[[nodiscard]] doubled_plan send_twice(const plan& from, std::span<const std::uint32_t> items);

}  // namespace evalcore::prefix
