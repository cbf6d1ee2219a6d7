#pragma once

#include <fstream>
#include <string>
#include <string_view>

/// What memory this process has.
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

}  // namespace evalcore::bench
