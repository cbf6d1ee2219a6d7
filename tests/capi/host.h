/* What the test programs in C share: a host of evalcore that checks what it is given. */
#ifndef TESTS_CAPI_HOST_H
#define TESTS_CAPI_HOST_H

#include <stdio.h>
#include <string.h>

#include <evalcore/evalcore.h>

static int failures = 0;

static inline void check(int holds, const char* what) {
  if (!holds) {
    printf("failed: %s\n", what);
    ++failures;
  }
}

static inline evc_str str(const char* text) {
  evc_str made;
  made.data = text;
  made.size = strlen(text);
  return made;
}

static inline int equal(evc_str text, const char* wanted) {
  return text.size == strlen(wanted) && (text.size == 0 || memcmp(text.data, wanted, text.size) == 0);
}

static inline int has(evc_str text, const char* part) {
  const size_t size = strlen(part);
  size_t at;
  for (at = 0; at + size <= text.size; ++at) {
    if (memcmp(text.data + at, part, size) == 0) return 1;
  }
  return 0;
}

static inline int verdict(void) {
  if (failures == 0) printf("all as expected\n");
  return failures == 0 ? 0 : 1;
}

#endif
