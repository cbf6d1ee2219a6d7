#ifndef EVALCORE_C_HOST_BACKEND_H
#define EVALCORE_C_HOST_BACKEND_H

#include <evalcore/c/backend.h>
#include <evalcore/c/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A backend that the host plays, for a model that no other selector reaches: what a pool, a run or episodes
 * ask of it comes as events, and the host answers each, on any thread and in any order. Nothing of the host's
 * is called.
 *
 * Its events: ASKED has a request as JSON, the body of a chat completion of OpenAI's API, and its number as
 * ticket. WITHDRAWN: nobody waits for the answer to that ticket any more.
 */

/**
 * `model` names the model. `identity`: a JSON object of texts, what an answer may depend on (a file's hash, a
 * version): replies in a store are used again only for the same. Caller frees with evc_backend_free, after
 * which what is asked ends with EVC_E_CLOSED and no hook is called. On failure *out is NULL.
 */
EVC_API evc_status evc_backend_new_host(evc_runtime* runtime, evc_str model, evc_str identity,
                                        evc_backend** out, evc_error** error) EVC_NOEXCEPT;

/** More of an answer's text, in order, before evc_backend_answer; the first is the first token. Tickets that
 * are over are ignored. */
EVC_API evc_status evc_backend_tell_text(evc_backend* backend, uint64_t ticket, evc_str text) EVC_NOEXCEPT;
/**
 * The whole answer, as the body of a chat completion of OpenAI's API: {"choices": [{"message": {"content":
 * …}, "finish_reason": "stop"}], "usage": …}. EVC_E_BAD_REPLY: it is none, and the request still waits.
 * Tickets that are over are ignored.
 */
EVC_API evc_status evc_backend_answer(evc_backend* backend, uint64_t ticket, evc_str json,
                                      evc_error** error) EVC_NOEXCEPT;
/** There is no answer: one of EVC_E_… but EVC_E_CANCELLED, which is the asker's; it says whether it is asked
 * again. And a sentence without secrets. Tickets that are over are ignored. */
EVC_API evc_status evc_backend_fail(evc_backend* backend, uint64_t ticket, evc_status why,
                                    evc_str message) EVC_NOEXCEPT;

/** As evc_pool_poll, of what is asked. EVC_E_UNSUPPORTED here and in all functions of this header: it is
 * another kind of backend. */
EVC_API evc_status evc_backend_poll(evc_backend* backend, int32_t timeout_ms, evc_event** out) EVC_NOEXCEPT;
/** As evc_pool_wake. */
EVC_API evc_status evc_backend_wake(evc_backend* backend) EVC_NOEXCEPT;
/** As evc_pool_event_fd. */
EVC_API int32_t evc_backend_event_fd(evc_backend* backend) EVC_NOEXCEPT;
/** As evc_pool_set_wakeup. */
EVC_API evc_status evc_backend_set_wakeup(evc_backend* backend, void (*hook)(void* context),
                                          void* context) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
