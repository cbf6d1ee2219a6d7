#pragma once

#include <cmath>
#include <string>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/error.hpp>
#include <evalcore/pool/options.hpp>

namespace evalcore::pool {

[[nodiscard]] inline std::string in_seconds(duration span) {
  return std::to_string(std::llround(std::ceil(seconds(span)))) + " s";
}

/// Whether the server asks for a wait that is longer than the longest; the failure is then one of quota, and
/// says so.
[[nodiscard]] inline bool end_for_too_long_a_wait(error& why, const retry_options& how) {
  if (!why.retry_after || *why.retry_after <= how.max_wait || !retryable(why.code)) return false;
  why.message += "; the server asks to wait " + in_seconds(*why.retry_after) +
                 ", longer than the longest wait of " + in_seconds(how.max_wait);
  why.code = errc::quota;
  return true;
}

}  // namespace evalcore::pool
