/* Preloaded: the faults that its environment names happen in its process.
 *
 * FAIL_ALLOCATION=N: the N-th allocation gives nothing; with FAIL_ALWAYS=1 each later one, too.
 *
 * FAIL_THREAD=N: the N-th thread cannot be made.
 *
 * WALL_CLOCK=S: the wall clock stands at S seconds after 1970.
 *
 * WALL_STEP=S: the wall clock jumps by S seconds with each look at it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

extern void* __libc_malloc(size_t);
extern void* __libc_realloc(void*, size_t);

static long fail_allocation, fail_always, fail_thread, wall_step;
static const char* wall_clock;
static atomic_long allocations, threads, looks;

static long number(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void read_environment(void) {
  fail_always = number("FAIL_ALWAYS");
  fail_thread = number("FAIL_THREAD");
  wall_step = number("WALL_STEP");
  wall_clock = getenv("WALL_CLOCK");
  fail_allocation = number("FAIL_ALLOCATION");
}

static int refused(void) {
  if (fail_allocation == 0) return 0;
  const long n = atomic_fetch_add(&allocations, 1) + 1;
  if (n != fail_allocation && !(fail_always && n > fail_allocation)) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void* realloc(void* old, size_t size) { return refused() ? NULL : __libc_realloc(old, size); }

int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*work)(void*), void* with) {
  if (fail_thread != 0 && atomic_fetch_add(&threads, 1) + 1 == fail_thread) return EAGAIN;
  int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  *(void**)&real = dlsym(RTLD_NEXT, "pthread_create");
  return real(made, how, work, with);
}

int clock_gettime(clockid_t which, struct timespec* into) {
  static int (*real)(clockid_t, struct timespec*);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
  const int done = real(which, into);
  if (which == CLOCK_REALTIME) {
    if (wall_clock != NULL) into->tv_sec = atol(wall_clock);
    into->tv_sec += wall_step * (atomic_fetch_add(&looks, 1) + 1);
  }
  return done;
}
