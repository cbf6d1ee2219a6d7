#pragma once

#include <atomic>

namespace evalcore::test {

/// Lets allocations fail, in a program of tests that is linked with failing_new.cpp.
struct failing_new {
  inline static thread_local bool watched = false;  ///< Only threads that say so are concerned.
  inline static std::atomic<long> seen{0};          ///< Allocations of those.
  inline static std::atomic<long> first{0};         ///< The number of the first that fails; 0: none does.
  inline static std::atomic<long> count{0};         ///< How many fail, one after the other.

  static void arm(long number, long how_many) {
    seen = 0;
    count = how_many;
    first = number;
  }
  /// Whether any has failed.
  static bool disarm() {
    const bool came = seen >= first;
    first = 0;
    return came;
  }
  static bool strikes() {
    if (!watched || first == 0) return false;
    const long number = ++seen;
    return number >= first && number < first + count;
  }
};

}  // namespace evalcore::test
