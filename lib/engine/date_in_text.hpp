#pragma once

#include <string_view>

namespace evalcore::engine {

struct calendar_day {
  int year = 0;
  unsigned month = 0;  ///< 1 to 12.
  unsigned day = 0;    ///< 1 to 31.
};

/// The day of the local clock.
[[nodiscard]] calendar_day today();

/// Whether a text shows the day as chat templates write it: 2026-11-03, 03 Nov 2026, 3 November 2026,
/// November 3, 2026, 11/03/2026 and the like.
[[nodiscard]] bool shows_day(std::string_view text, const calendar_day& day);

}  // namespace evalcore::engine
