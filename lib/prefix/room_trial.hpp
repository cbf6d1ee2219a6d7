#pragma once

#include <algorithm>
#include <cstdint>

#include "prefix/cache_trial.hpp"

namespace evalcore::prefix {

/// Whether a cache has room for what is asked of it: what was counted on and is not there was dropped for
/// others. In tokens.
class room_trial {
 public:
  /// The largest blocks that caches are known to count in: fewer tokens may lack without one dropped.
  static constexpr std::uint64_t largest_block = 256;

  /// `always`: what the whole suite shares, which is found whatever else was dropped.
  void answered(std::uint64_t counted_on, std::uint64_t found, std::uint64_t always) {
    seen_ += 1;
    missed_ += missed(counted_on, found, always) ? 1U : 0U;
    if (seen_ < 4 * cache_trial::answers || too_small()) return;
    seen_ /= 2;  // The last ones count most.
    missed_ /= 2;
  }
  /// One in eight was dropped.
  [[nodiscard]] bool too_small() const noexcept { return missed_ * 8 > seen_; }

 private:
  /// Less than half was there of it all, or of what it has beyond what is always found.
  static bool missed(std::uint64_t counted_on, std::uint64_t found, std::uint64_t always) {
    if (found < counted_on / 2) return true;
    const auto beyond = counted_on - std::min(always, counted_on);
    return counted_on - std::min(found, counted_on) > std::max(beyond / 2, largest_block);
  }

  std::uint32_t seen_ = 0;
  std::uint32_t missed_ = 0;
};

}  // namespace evalcore::prefix
