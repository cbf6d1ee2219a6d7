#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "engine/date_in_text.hpp"
#include "engine/machine_memory.hpp"
#include "engine/rows_that_fit.hpp"
#include "unit/temporary_folder.hpp"

using namespace evalcore::engine;

TEST_CASE("a day is found in the forms that chat templates write") {
  constexpr calendar_day day{2026, 11, 3};
  for (const char* text : {"Today is 2026-11-03.", "Today Date: 03 Nov 2026", "3 November 2026",
                           "November 3, 2026", "Nov 03, 2026", "on 11/03/2026", "am 03.11.2026"})
    CHECK_MESSAGE(shows_day(text, day), text);
  for (const char* text : {"", "2026-11-04", "03 Nov 2025", "4 November 2026", "2026-1-103"})
    CHECK_FALSE_MESSAGE(shows_day(text, day), text);
}

namespace {

/// A machine of 16 GiB, of which 12 are free, whose process has 2 GiB, 1.5 of them a file that it has mapped.
struct machine {
  machine() {
    at.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:   12582912 kB\n");
    at.write("proc/self/status",
             "Name:\tx\nVmPeak:\t 9 kB\nVmRSS:\t 2097152 kB\nRssAnon:\t  524288 kB\nRssFile:\t 1572864 kB\n");
  }
  [[nodiscard]] memory_report memory() const { return machine_memory(at.path()); }

  evalcore::test::temporary_folder at;
};

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;

}  // namespace

TEST_CASE("memory is read from the system's own files, and a mapped file is not free") {
  const machine one;
  const auto seen = one.memory();
  CHECK(seen.working_set == 16 * gib);
  CHECK(seen.active == 2 * gib);
  CHECK(seen.free_ram == 12 * gib - 3 * gib / 2);
}

TEST_CASE("memory is unknown where the system has no such files, or nothing in them") {
  const evalcore::test::temporary_folder nothing;
  const auto none = machine_memory(nothing.path());
  CHECK_FALSE(none.working_set);
  CHECK_FALSE(none.active);
  CHECK_FALSE(none.free_ram);
  const machine one;
  one.at.write("proc/meminfo", "");
  one.at.write("proc/self/status", "VmRSS:");
  CHECK_FALSE(one.memory().working_set);
  CHECK_FALSE(one.memory().active);
  CHECK_FALSE(one.memory().free_ram);
}

TEST_CASE("what a control group may use counts as the machine's where that is less") {
  const machine one;
  one.at.write("proc/self/cgroup", "0::/user.slice/job\n");
  const std::string job = "sys/fs/cgroup/user.slice/job/";
  one.at.write(job + "memory.max", "8589934592\n");
  one.at.write(job + "memory.current", "3221225472\n");
  // 1 GiB of files, of which the group lets go when it needs room.
  one.at.write(job + "memory.stat", "anon 2147483648\ninactive_file 805306368\nactive_file 268435456\n");
  CHECK(one.memory().working_set == 8 * gib);
  CHECK(one.memory().free_ram == 6 * gib - 3 * gib / 2);

  SUBCASE("a limit that only slows the group down is one, too") {
    one.at.write(job + "memory.high", "4294967296\n");
    CHECK(one.memory().working_set == 4 * gib);
    CHECK(one.memory().free_ram == 2 * gib - 3 * gib / 2);
  }
  SUBCASE("that of a group above holds") {
    one.at.write("sys/fs/cgroup/user.slice/memory.max", "6442450944\n");
    one.at.write("sys/fs/cgroup/user.slice/memory.current", "4294967296\n");
    CHECK(one.memory().working_set == 6 * gib);
    CHECK(one.memory().free_ram == gib / 2);
  }
  SUBCASE("a group without a limit changes nothing") {
    one.at.write(job + "memory.max", "max\n");
    CHECK(one.memory().working_set == 16 * gib);
    CHECK(one.memory().free_ram == 12 * gib - 3 * gib / 2);
  }
  SUBCASE("nothing is free in a group that is full") {
    one.at.write(job + "memory.current", "9663676416\n");
    CHECK(one.memory().free_ram == 0);
  }
}

TEST_CASE("in a container the group's files stand at the root of what is mounted") {
  const machine one;
  one.at.write("proc/self/cgroup", "0::/\n");
  one.at.write("sys/fs/cgroup/memory.max", "4294967296\n");
  one.at.write("sys/fs/cgroup/memory.current", "2147483648\n");
  CHECK(one.memory().working_set == 4 * gib);
  CHECK(one.memory().free_ram == gib / 2);
}

TEST_CASE("control groups of the first version are read by their own names") {
  const machine one;
  one.at.write("proc/self/cgroup", "5:devices:/x\n4:cpuset,memory:/docker/0f\n1:name=systemd:/\n0::/\n");
  // The path is the host's; the container sees its own group at the root.
  one.at.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8589934592\n");
  one.at.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5368709120\n");
  one.at.write("sys/fs/cgroup/memory/memory.stat",
               "cache 7\ninactive_file 9\ntotal_inactive_file 536870912\ntotal_active_file 536870912\n");
  CHECK(one.memory().working_set == 8 * gib);
  CHECK(one.memory().free_ram == 4 * gib - 3 * gib / 2);
  // What the kernel writes where there is no limit.
  one.at.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(one.memory().working_set == 16 * gib);
  CHECK(one.memory().free_ram == 12 * gib - 3 * gib / 2);
}

TEST_CASE("as many rows are opened as fit beside what is left for others, and never more than asked for") {
  struct line {
    std::uint64_t a_row;
    std::optional<std::uint64_t> free;
    std::uint64_t leave;
    std::uint32_t most;
    std::uint32_t rows;
  };
  for (const auto& [a_row, free, leave, most, rows] : {
           line{90, 1000, 100, 64, 10},         // 900 / 90.
           line{90, 999, 100, 64, 9},           // A byte short of the tenth.
           line{90, 1000, 100, 8, 8},           // The engine takes no more.
           line{90, 100'000, 100, 64, 64},      //
           line{90, 100, 100, 64, 1},           // One is always tried where it fits at all,
           line{90, 90, 100, 64, 1},            // to the byte,
           line{90, 89, 0, 64, 0},              // and never where it does not.
           line{90, 0, 0, 64, 0},               //
           line{90, std::nullopt, 100, 64, 4},  // Nobody knows what is free.
           line{90, std::nullopt, 100, 2, 2},   //
           line{0, 1000, 0, 64, 64},            // It costs nothing.
       }) {
    CHECK_MESSAGE(rows_that_fit({.a_row = a_row, .free = free, .leave = leave, .most = most}) == rows,
                  std::to_string(a_row) << " of " << free.value_or(0) << " less " << leave);
  }
}
