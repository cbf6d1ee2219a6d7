#pragma once

#include <cstdint>

#include "guard.hpp"
#include "inputs.hpp"

namespace evalcore::capi {

/// Sets an option that is a number. `take` gets it if it is in its range.
template <class Options, class Number, class Take>
evc_status set_number(Options* options, const char* name, Number number, Number least, Number most,
                      Take&& take) noexcept {
  return guard_set(options, [&]() -> result<void> {
    if (auto good = check_range(name, number, least, most); !good) return good;
    take(number);
    return {};
  });
}

// The ranges of what a gate and its plan have in common.
inline constexpr double least_margin = 1e-6;
inline constexpr double most_margin = 0.999;
inline constexpr double least_alpha = 1e-9;
inline constexpr double most_alpha = 0.4999;
inline constexpr double least_power = 0.01;
inline constexpr double most_power = 0.9999;

}  // namespace evalcore::capi
