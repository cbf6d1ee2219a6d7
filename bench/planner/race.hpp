#pragma once

#include <cstdint>
#include <vector>

#include "server.hpp"

namespace evalcore::bench {

struct finish {
  double makespan_s = 0;
  std::uint64_t cached = 0;  ///< Tokens that the server found.
};

/// Runs a suite as the planner and the dispatcher have it.
[[nodiscard]] finish run_planned(const server_kind& kind, const token_suite& suite, const paged_suite& pages);
/// Runs a suite in this order, sending whenever there is room.
[[nodiscard]] finish run_in_order(const server_kind& kind, const token_suite& suite, const paged_suite& pages,
                                  const std::vector<std::uint32_t>& order);
/// No order and no holds can end before.
[[nodiscard]] double least_makespan(const server_kind& kind, const token_suite& suite,
                                    const paged_suite& pages);

}  // namespace evalcore::bench
