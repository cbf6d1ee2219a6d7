#ifndef EVALCORE_C_ENGINE_H
#define EVALCORE_C_ENGINE_H

#include <evalcore/c/engine_request.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An engine in this process that runs many requests at once. Any thread, but for evc_engine_free: no other
 * call may be under way.
 */
typedef struct evc_engine evc_engine;

/**
 * Runs a model runtime of the host's on a thread of its own, and waits until it has started and, unless it
 * says EVC_IS_EXACT, its rows are compared alone and together.
 *
 * The table is copied during the call; `context` is handed over: the table's `destroy` is called in any case,
 * here if the engine does not start, unless the table or the options are refused with EVC_E_INVALID_ARGUMENT
 * before its `start` was called. `options` NULL: the defaults. On failure *out is NULL, and *error, where
 * error is not NULL, says why: caller frees with evc_error_free.
 */
EVC_API evc_status evc_engine_new_table(const evc_step_engine_table* table, void* context,
                                        const evc_engine_options* options, evc_engine** out,
                                        evc_error** error) EVC_NOEXCEPT;
/**
 * The same on a GGUF model, with the same engine as the backend "embedded", but for a host that speaks to it
 * itself. Errors besides: EVC_E_NOT_FOUND; EVC_E_UNSUPPORTED, also in a build without llama.cpp;
 * EVC_E_NO_MEMORY.
 */
EVC_API evc_status evc_engine_open(evc_str model, const evc_engine_options* options, evc_engine** out,
                                   evc_error** error) EVC_NOEXCEPT;
/** Cancels what runs, and waits until the runtime is destroyed. NULL is fine. Not from a table's function. */
EVC_API void evc_engine_free(evc_engine* engine) EVC_NOEXCEPT;

/**
 * Asks for an answer, and does not wait for it. `tag` comes back with each event. On success exactly one
 * EVC_ENGINE_EVENT_END follows. EVC_E_OVERLOADED: the queue is full; submit again when a request has ended.
 */
EVC_API evc_status evc_engine_submit(evc_engine* engine, const evc_engine_request* request, uint64_t tag,
                                     uint64_t* ticket, evc_error** error) EVC_NOEXCEPT;
/** The END follows at once; what was not polled yet is lost. Tickets that ended or never were are ignored. */
EVC_API void evc_engine_cancel(evc_engine* engine, uint64_t ticket) EVC_NOEXCEPT;

/** Something that happened to a request. One thread at a time. Caller frees with evc_engine_event_free. */
typedef struct evc_engine_event evc_engine_event;

/** Kinds of events. Those that a program does not know it ignores. */
enum {
  EVC_ENGINE_EVENT_TOKEN = 1,    /**< A token of the answer. */
  EVC_ENGINE_EVENT_PROGRESS = 2, /**< How far the request has come, as JSON; only if asked for. */
  EVC_ENGINE_EVENT_END = 3       /**< The last of its request: the answer is whole, or there is an error. */
};

/**
 * The next event of any request. timeout_ms: how long to wait for one; 0 not at all, below 0 without end.
 * EVC_E_TIMEOUT: none came, or evc_engine_wake was called, and *out is NULL.
 *
 * A host that polls more slowly than the engine writes loses the request: it ends with EVC_E_CANCELLED and
 * the detail "stream_backpressure".
 */
EVC_API evc_status evc_engine_poll(evc_engine* engine, int32_t timeout_ms,
                                   evc_engine_event** out) EVC_NOEXCEPT;

/** As evc_pool_wake. */
EVC_API evc_status evc_engine_wake(evc_engine* engine) EVC_NOEXCEPT;
/** As evc_pool_event_fd: when it is readable, poll with a time of 0 until EVC_E_TIMEOUT. */
EVC_API int32_t evc_engine_event_fd(evc_engine* engine) EVC_NOEXCEPT;
/** As evc_pool_set_wakeup: it is called again only after a poll gave EVC_E_TIMEOUT. */
EVC_API evc_status evc_engine_set_wakeup(evc_engine* engine, void (*hook)(void* context),
                                         void* context) EVC_NOEXCEPT;

/** One of EVC_ENGINE_EVENT_…. */
EVC_API int32_t evc_engine_event_kind(const evc_engine_event* event) EVC_NOEXCEPT;
EVC_API uint64_t evc_engine_event_ticket(const evc_engine_event* event) EVC_NOEXCEPT;
EVC_API uint64_t evc_engine_event_tag(const evc_engine_event* event) EVC_NOEXCEPT;
/** The token's id; 0 for other kinds. */
EVC_API int32_t evc_engine_event_token(const evc_engine_event* event) EVC_NOEXCEPT;
/**
 * What the event adds to the answer: maybe nothing, maybe half a character, never a part of a stop string.
 * All texts of a request, that of its END included, are its answer. Borrowed until the event is freed.
 */
EVC_API evc_str evc_engine_event_text(const evc_engine_event* event) EVC_NOEXCEPT;
/**
 * A JSON object, or nothing. TOKEN, if logprobs were asked for: {logprob, top: [{token, logprob}]}. PROGRESS:
 * the phase event. END of an answer: {finish_reason, usage, execution, performance, …}, of continuations also
 * scores: [{sum_logprob, is_greedy}], and where the comparison of rows before the first request found that
 * they must not share a batch or a prefix, note: what was found. Borrowed until the event is freed.
 */
EVC_API evc_str evc_engine_event_json(const evc_engine_event* event) EVC_NOEXCEPT;
/** Of an END without an answer: why. NULL otherwise. Borrowed until the event is freed. */
EVC_API const evc_error* evc_engine_event_error(const evc_engine_event* event) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_engine_event_free(evc_engine_event* event) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
