#pragma once

#include <sys/resource.h>

#include <fstream>
#include <string>
#include <string_view>

/// What this process has used so far.
namespace evalcore::bench {

/// A field of /proc/self/status that is in KiB ("VmRSS:", "VmHWM:"), in MB; 0 where there is none.
inline double memory_mb(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == field && status >> kib) return kib * 1024 / 1e6;
  }
  return 0;
}

/// Processor time, user and system.
inline double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

}  // namespace evalcore::bench
