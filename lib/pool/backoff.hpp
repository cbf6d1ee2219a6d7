#pragma once

#include <algorithm>
#include <cstdint>

#include <evalcore/pool/options.hpp>

namespace evalcore::pool {

/// The delay before the `retry`-th retry (from 1) of an item; `unit` is uniform in [0, 1).
[[nodiscard]] inline duration backoff(const retry_options& how, std::uint32_t retry, double unit) {
  auto delay = how.first_delay;
  // Not a power: it would overflow long before a patient user's last retry.
  for (std::uint32_t n = 1; n < retry && delay < how.longest_delay; ++n) delay *= 2;
  delay = std::min(delay, how.longest_delay);
  return std::chrono::duration_cast<duration>(delay * (1.0 - 0.25 * unit));
}

}  // namespace evalcore::pool
