/* A folder of a test's own, gone with all that is in it. Needs _XOPEN_SOURCE 700. */
#ifndef TESTS_CAPI_TEMPORARY_FOLDER_H
#define TESTS_CAPI_TEMPORARY_FOLDER_H

#include <ftw.h>
#include <stdlib.h>

#include "host.h"

static char folder[] = "/tmp/evalcore-capi-XXXXXX";

static inline void make_folder(void) { check(mkdtemp(folder) != NULL, "there is a folder"); }

static inline int remove_one(const char* path, const struct stat* what, int kind, struct FTW* where) {
  (void)what;
  (void)kind;
  (void)where;
  return remove(path);
}

static inline void remove_folder(void) {
  check(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "the folder is removed");
}

#endif
