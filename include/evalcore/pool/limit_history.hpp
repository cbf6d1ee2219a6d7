#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <evalcore/base/clock.hpp>

namespace evalcore::pool {

/// Why a concurrency limit changed.
enum class limit_reason {
  started,
  grew,         ///< One more for an answer.
  found_knee,   ///< Goodput does not grow with the number in flight any more.
  probed,       ///< A few less, for a round; a few more are told as `grew`.
  probe_ended,  ///< Back to where it was before.
  rejected,     ///< The server had no room.
  collapsed,    ///< Failures in a row.
  tokens,       ///< Goodput broke in: the bound on tokens in flight was lowered, not the limit.
  bounded,      ///< By a person.
};
/// As written to summary.json, e.g. "found_knee".
[[nodiscard]] std::string_view name(limit_reason why) noexcept;

struct limit_change {
  instant at;
  std::uint32_t limit = 0;
  limit_reason why = limit_reason::started;
  std::optional<double> tokens = {};  ///< Bound on tokens in flight, where that was lowered.
};

/// The changes of one limit, oldest first, in bounded memory: growth, and a bound on tokens that goes on
/// falling, are told once a second, and of 1,024
/// changes every second one is forgotten.
class limit_history {
 public:
  void note(const limit_change& change);
  [[nodiscard]] std::span<const limit_change> changes() const noexcept { return changes_; }

 private:
  std::vector<limit_change> changes_;
};

}  // namespace evalcore::pool
