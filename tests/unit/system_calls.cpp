#include "unit/system_calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace evalcore::test {

system_calls intercepted;

}  // namespace evalcore::test

using evalcore::test::intercepted;

extern "C" __attribute__((visibility("default"))) int fdatasync(int descriptor) {
  if (!intercepted.on_flush) return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
  const int told = intercepted.on_flush(descriptor);
  if (told < 0) errno = -told;
  return told < 0 ? -1 : 0;
}

extern "C" __attribute__((visibility("default"))) ssize_t pwrite64(int descriptor, const void* bytes,
                                                                   size_t length, off64_t at) {
  ssize_t told = static_cast<ssize_t>(length);
  if (intercepted.on_write) told = intercepted.on_write(length);
  if (told < 0) {
    errno = static_cast<int>(-told);
    return -1;
  }
  return ::syscall(SYS_pwrite64, descriptor, bytes, std::min(static_cast<size_t>(told), length), at);
}
