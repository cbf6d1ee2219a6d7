#pragma once

#include <sys/types.h>

#include <functional>

namespace evalcore::test {

/// Stands between SQLite and the C library in this program, so that a disk can be made to fail. One thread.
struct system_calls {
  /// Called before each write at a position with its length. A number of bytes below that is all that is
  /// written, and a negative one is an error: -EIO. Empty: the C library's.
  std::function<ssize_t(std::size_t)> on_write;
  /// Called in place of each flush with its descriptor; a negative number is its error. Empty: the C
  /// library's.
  std::function<int(int)> on_flush;
};

extern system_calls intercepted;

}  // namespace evalcore::test
