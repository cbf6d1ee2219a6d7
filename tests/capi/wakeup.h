/* What a test program in C waits with beside evalcore's own polls. Needs POSIX. */
#ifndef TESTS_CAPI_WAKEUP_H
#define TESTS_CAPI_WAKEUP_H

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static inline int readable(int fd, int timeout_ms) {
  struct pollfd one;
  one.fd = fd;
  one.events = POLLIN;
  one.revents = 0;
  return poll(&one, 1, timeout_ms) == 1;
}

/* A hook; the context is where to. */
static inline void write_a_byte(void* context) {
  if (write(*(int*)context, "!", 1) != 1) abort();
}

#endif
