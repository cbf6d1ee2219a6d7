#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace evalcore::test {

/// Lets allocations fail, for a program of tests of its own: operator new is replaced in the file that
/// defines EVALCORE_FAILING_NEW.
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

#ifdef EVALCORE_FAILING_NEW
void* operator new(std::size_t size) {
  if (evalcore::test::failing_new::strikes()) throw std::bad_alloc();
  if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}
void operator delete(void* gone) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t /*size*/) noexcept { std::free(gone); }
#endif
