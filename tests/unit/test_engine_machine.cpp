#include <doctest/doctest.h>

#include "engine/date_in_text.hpp"
#include "engine/machine_memory.hpp"

using namespace evalcore::engine;

TEST_CASE("a day is found in the forms that chat templates write") {
  constexpr calendar_day day{2026, 11, 3};
  for (const char* text : {"Today is 2026-11-03.", "Today Date: 03 Nov 2026", "3 November 2026",
                           "November 3, 2026", "Nov 03, 2026", "on 11/03/2026", "am 03.11.2026"})
    CHECK_MESSAGE(shows_day(text, day), text);
  for (const char* text : {"", "2026-11-04", "03 Nov 2025", "4 November 2026", "2026-1-103"})
    CHECK_FALSE_MESSAGE(shows_day(text, day), text);
}

TEST_CASE("memory is read from the system's own texts, and is unknown where they are missing") {
  const auto seen = read_memory("MemTotal:       24696520 kB\nMemFree:  1 kB\nMemAvailable:   23000000 kB\n",
                                "Name:\tx\nVmPeak:\t 9 kB\nVmRSS:\t    1024 kB\n");
  CHECK(seen.working_set == 24696520ULL * 1024);
  CHECK(seen.active == 1024ULL * 1024);
  CHECK(seen.free_ram == 23000000ULL * 1024);
  const auto none = read_memory("", "VmRSS:");
  CHECK_FALSE(none.working_set);
  CHECK_FALSE(none.active);
  CHECK_FALSE(none.free_ram);
}
