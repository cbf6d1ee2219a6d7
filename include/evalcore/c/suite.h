#ifndef EVALCORE_C_SUITE_H
#define EVALCORE_C_SUITE_H

#include <evalcore/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A suite (docs/suite.md); its file must stay as it is while it is used. Any thread. */
typedef struct evc_suite evc_suite;

/**
 * Opens a suite and checks every line. `answers`: the file or folder with the answers of a BFCL suite; empty:
 * beside it. On failure *out is NULL; EVC_E_BAD_SUITE names file and line. Caller frees with evc_suite_free.
 */
EVC_API evc_status evc_suite_open(evc_str path, evc_str answers, evc_suite** out,
                                  evc_error** error) EVC_NOEXCEPT;
/**
 * The same of JSON lines that are no file's; copied during the call. `name`: what messages and the store call
 * the suite, and its task; not empty. EVC_E_BAD_SUITE names it and the line.
 */
EVC_API evc_status evc_suite_open_text(evc_str name, evc_str lines, evc_suite** out,
                                       evc_error** error) EVC_NOEXCEPT;
/** Items. */
EVC_API uint64_t evc_suite_size(const evc_suite* suite) EVC_NOEXCEPT;
/** "bfcl" for BFCL files, else the file's name without its endings. Borrowed until the suite is freed. */
EVC_API evc_str evc_suite_task(const evc_suite* suite) EVC_NOEXCEPT;
/** SHA-256 of its bytes, inflated, and of its answers. Borrowed until the suite is freed. */
EVC_API evc_str evc_suite_hash(const evc_suite* suite) EVC_NOEXCEPT;
/** Runs that have begun keep what they need of it. NULL is fine. */
EVC_API void evc_suite_free(evc_suite* suite) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
