#pragma once

#include <algorithm>
#include <cstdint>

namespace evalcore::prefix {

/// How much longer a prefix must be than one of `held` units to be treated as one of its own, where without
/// it `own` units are computed: a quarter of either, whichever is less, unless that is next to nothing beside
/// what is held.
[[nodiscard]] constexpr std::uint32_t notable_step(std::uint32_t held, std::uint32_t own,
                                                   std::uint32_t min_prefix) noexcept {
  return std::max({min_prefix, std::min(held, own) / 4, held / 16, std::uint32_t{1}});
}

/// Whether a prompt of `length` units should wait for `offered` cached units when it could have `held` at
/// once. A wait costs time, so the gain must also stand out against what has to be computed anyway.
[[nodiscard]] constexpr bool worth_waiting(std::uint32_t held, std::uint32_t offered, std::uint32_t length,
                                           std::uint32_t min_prefix) noexcept {
  if (offered <= held) return false;
  const std::uint32_t gain = offered - held;
  return gain >= notable_step(held, length - held, min_prefix) && gain >= (length - offered) / 8;
}

}  // namespace evalcore::prefix
