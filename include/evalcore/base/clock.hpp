#pragma once

#include <chrono>
#include <cstdint>

namespace evalcore {

/// Monotonic time. Decisions never read a clock: `now` is passed in, so that tests run on a virtual one.
using instant = std::chrono::steady_clock::time_point;
using duration = std::chrono::nanoseconds;

/// Seconds as a number, for reports.
[[nodiscard]] constexpr double seconds(duration span) noexcept {
  return std::chrono::duration<double>(span).count();
}

}  // namespace evalcore
