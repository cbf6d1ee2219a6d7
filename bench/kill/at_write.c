/* Preloaded: kills its process in the middle of the write that $KILL_AT_WRITE counts to, from 1, after the
 * first half of its bytes. Counted are the writes at a position, those of databases. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

typedef ssize_t writer(int, const void*, size_t, off64_t);

static atomic_long count;

ssize_t pwrite64(int fd, const void* bytes, size_t length, off64_t at) {
  static writer* real;
  static long last;
  if (real == NULL) {
    const char* wanted = getenv("KILL_AT_WRITE");
    last = wanted == NULL ? -1 : atol(wanted);
    real = (writer*)dlsym(RTLD_NEXT, "pwrite64");
  }
  if (atomic_fetch_add(&count, 1) + 1 == last) {
    real(fd, bytes, length / 2, at);
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  return real(fd, bytes, length, at);
}
