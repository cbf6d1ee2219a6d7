#ifndef EVALCORE_C_POOL_H
#define EVALCORE_C_POOL_H

#include <evalcore/c/backend.h>
#include <evalcore/c/event.h>
#include <evalcore/c/pool_options.h>
#include <evalcore/c/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Requests in flight: bounded concurrency, retries, rate limits, one queue of events. Any thread, for all but
 * evc_pool_free: no other call may be under way.
 *
 * Each accepted request has exactly one END, and after the last of them comes DRAINED, once the pool was shut
 * down or has stopped by itself (no endpoint left, the time limit, too many errors).
 */
typedef struct evc_pool evc_pool;

/**
 * `endpoints`: `count` backends of the same model and the same runtime, at least one; the array is copied
 * during the call. `options` NULL: the defaults. On failure *out is NULL. Caller frees with evc_pool_free.
 */
EVC_API evc_status evc_pool_new(evc_runtime* runtime, evc_backend* const* endpoints, size_t count,
                                const evc_pool_options* options, evc_pool** out,
                                evc_error** error) EVC_NOEXCEPT;
/** Cancels what is in flight, waits for its end and forgets what was not polled. NULL is fine. */
EVC_API void evc_pool_free(evc_pool* pool) EVC_NOEXCEPT;

/**
 * Asks for an answer, and does not wait for it. `tag` comes back with each event. `ticket`, which may be
 * NULL, gets the request's number, above 0. The request is copied during the call.
 *
 * EVC_E_OVERLOADED: too many are outstanding; poll, then submit again. EVC_E_CLOSED: the pool was shut down
 * or has stopped. EVC_E_INVALID_ARGUMENT, EVC_E_UNSUPPORTED: the backend cannot be asked that.
 */
EVC_API evc_status evc_pool_submit(evc_pool* pool, const evc_request* request, uint64_t tag, uint64_t* ticket,
                                   evc_error** error) EVC_NOEXCEPT;
/** The request ends with EVC_E_CANCELLED, unless it has ended. Tickets that never were are ignored. */
EVC_API evc_status evc_pool_cancel(evc_pool* pool, uint64_t ticket) EVC_NOEXCEPT;
/** Requests in flight at most, at each endpoint, from now on: 1 to 10,000. What is in flight above it goes
 * on. */
EVC_API evc_status evc_pool_set_concurrency(evc_pool* pool, uint32_t requests) EVC_NOEXCEPT;

/**
 * Accepts nothing more, and does not wait. cancel 0: what was accepted goes on to its end, retries included;
 * 1: it ends with EVC_E_CANCELLED. DRAINED follows. May be called again, with 1 after 0.
 */
EVC_API evc_status evc_pool_shutdown(evc_pool* pool, int32_t cancel) EVC_NOEXCEPT;

/**
 * The next event. timeout_ms: how long to wait for one; 0 not at all, below 0 without end. EVC_E_TIMEOUT:
 * none came, or evc_pool_wake was called. EVC_E_CLOSED: DRAINED was given already. *out is NULL then. Caller
 * frees with evc_event_free.
 */
EVC_API evc_status evc_pool_poll(evc_pool* pool, int32_t timeout_ms, evc_event** out) EVC_NOEXCEPT;
/** The same for up to `capacity` events, of which it waits for the first only. *count of them were given. */
EVC_API evc_status evc_pool_poll_many(evc_pool* pool, int32_t timeout_ms, evc_event** out, size_t capacity,
                                      size_t* count) EVC_NOEXCEPT;
/** One evc_pool_poll returns: the one that waits, else the next that would wait. */
EVC_API evc_status evc_pool_wake(evc_pool* pool) EVC_NOEXCEPT;
/**
 * A descriptor that is readable as long as there are events to poll, for select, poll, epoll or an event
 * loop. It belongs to the pool: it is neither read nor closed by the host. -1: none can be had.
 */
EVC_API int32_t evc_pool_event_fd(evc_pool* pool) EVC_NOEXCEPT;
/**
 * Calls `hook(context)` whenever the queue of events gets its first. It comes on a thread of evalcore's, must
 * return at once and must call no function of evalcore's. NULL: none. When this returns, the hook before it
 * is not running and will not be called again.
 */
EVC_API evc_status evc_pool_set_wakeup(evc_pool* pool, void (*hook)(void* context),
                                       void* context) EVC_NOEXCEPT;
/**
 * A JSON list, one object an endpoint: [{address, limit, in_flight, sent, answered, failed,
 * completion_tokens, paused_s, ejections}]. paused_s: nothing is sent to it for so long; null: it is not
 * paused. Caller frees with evc_text_free.
 */
EVC_API evc_status evc_pool_figures(const evc_pool* pool, evc_text** out, evc_error** error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
