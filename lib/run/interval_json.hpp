#pragma once

#include <optional>

#include <evalcore/base/json.hpp>
#include <evalcore/stats/interval.hpp>

namespace evalcore::run {

/// [low, high].
[[nodiscard]] inline json::value range(const stats::interval& of) { return json::array{of.low, of.high}; }

/// Unknown: null.
[[nodiscard]] inline json::value range(const std::optional<stats::interval>& of) {
  return of ? range(*of) : json::value();
}

}  // namespace evalcore::run
