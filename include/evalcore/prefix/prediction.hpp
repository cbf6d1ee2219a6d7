#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <evalcore/prefix/dispatch.hpp>

namespace evalcore::prefix {

/// What a plan is expected to find in the backend's cache, in units (see plan::exact).
struct prediction {
  std::vector<std::optional<std::uint64_t>> cached;  ///< By position in the suite; absent: unknown.
  std::vector<std::uint64_t> group_cached;           ///< By position in plan::groups; unknown counts nothing.
  std::uint64_t total_cached = 0;                    ///< Sum of what is known.
  std::uint32_t shares = 0;                          ///< Copies of one slot into another.
};

/// Runs the dispatcher without a backend: at most `in_flight` requests (at least 1), which end well and in
/// the order in which they were sent.
[[nodiscard]] prediction simulate(const plan& order, cache_model cache, std::uint32_t in_flight);

}  // namespace evalcore::prefix
