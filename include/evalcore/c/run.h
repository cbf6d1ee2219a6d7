#ifndef EVALCORE_C_RUN_H
#define EVALCORE_C_RUN_H

#include <evalcore/c/backend.h>
#include <evalcore/c/event.h>
#include <evalcore/c/run_options.h>
#include <evalcore/c/suite.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One run of a suite, on a thread of its own: what `evalcore run` does. Any thread, for all but evc_run_free:
 * no other call may be under way.
 *
 * Its events are NOTE and PROGRESS, any number, SCORE_ASKED if its host scores, and at last one RUN_END.
 */
typedef struct evc_run evc_run;

/**
 * Begins a run and does not wait for it. `endpoints` as for evc_pool_new. All is copied or kept during the
 * call. What is wrong with the suite, the files or the backend comes with RUN_END. On failure *out is NULL.
 * Caller frees with evc_run_free.
 */
EVC_API evc_status evc_run_start(evc_runtime* runtime, const evc_suite* suite, evc_backend* const* endpoints,
                                 size_t count, const evc_run_options* options, evc_run** out,
                                 evc_error** error) EVC_NOEXCEPT;
/**
 * What is in flight is cancelled, and what is done is kept: RUN_END follows, its summary says `interrupted`,
 * and the same run goes on from there another time. Before the first request is sent there is no summary, and
 * RUN_END has the error EVC_E_CANCELLED.
 */
EVC_API evc_status evc_run_cancel(evc_run* run) EVC_NOEXCEPT;
/** Requests in flight at most, at each endpoint: 1 to 10,000. Without effect while nothing is sent. */
EVC_API evc_status evc_run_set_concurrency(evc_run* run, uint32_t requests) EVC_NOEXCEPT;
/** Cancels the run and waits until what is done is kept. NULL is fine. */
EVC_API void evc_run_free(evc_run* run) EVC_NOEXCEPT;

/** As evc_pool_poll; EVC_E_CLOSED after RUN_END. */
EVC_API evc_status evc_run_poll(evc_run* run, int32_t timeout_ms, evc_event** out) EVC_NOEXCEPT;
/** As evc_pool_wake. */
EVC_API evc_status evc_run_wake(evc_run* run) EVC_NOEXCEPT;
/** As evc_pool_event_fd. */
EVC_API int32_t evc_run_event_fd(evc_run* run) EVC_NOEXCEPT;
/** As evc_pool_set_wakeup. */
EVC_API evc_status evc_run_set_wakeup(evc_run* run, void (*hook)(void* context), void* context) EVC_NOEXCEPT;

/**
 * The host's score of the reply that came with a SCORE_ASKED of this ticket, as a JSON object: `value`, 0 to
 * 1; if it likes, `extracted`, what was compared, and `reason`, why it is wrong, both for a person. In any
 * order, on any thread; no more than 256 replies are asked for at once. EVC_E_NOT_FOUND: nobody waits for it:
 * it was answered, or the run has ended. EVC_E_INVALID_ARGUMENT: not such an object; the reply goes on
 * waiting.
 */
EVC_API evc_status evc_run_score(evc_run* run, uint64_t ticket, evc_str score,
                                 evc_error** error) EVC_NOEXCEPT;
/**
 * The same where the scorer failed, not the model: the item counts as unscored, with the reason for a person,
 * and a run that goes on asks again. Errors: as evc_run_score.
 */
EVC_API evc_status evc_run_unscored(evc_run* run, uint64_t ticket, evc_str reason,
                                    evc_error** error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
