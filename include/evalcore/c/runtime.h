#ifndef EVALCORE_C_RUNTIME_H
#define EVALCORE_C_RUNTIME_H

#include <evalcore/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The I/O thread of this process and all that waits on it: sockets, timers, backends, pools. One is enough.
 *
 * A runtime and what is made with it may be freed in any order: each keeps what it needs. After a fork() none
 * of it can be used in the child: its functions give EVC_E_CLOSED there, and its free functions do nothing.
 */
typedef struct evc_runtime evc_runtime;

/** Starts the thread. On failure *out is NULL. Any thread. Caller frees with evc_runtime_free. */
EVC_API evc_status evc_runtime_new(evc_runtime** out, evc_error** error) EVC_NOEXCEPT;
/**
 * What evc_backend_open and evc_suite_plan wait for on other threads ends with EVC_E_CANCELLED. Calls that
 * come later are not concerned. Any thread.
 */
EVC_API evc_status evc_runtime_interrupt(evc_runtime* runtime) EVC_NOEXCEPT;
/** The thread ends with the last backend, pool, run or episodes that were made with it. NULL is fine. Any
 * thread. */
EVC_API void evc_runtime_free(evc_runtime* runtime) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
