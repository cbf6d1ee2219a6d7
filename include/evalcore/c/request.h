#ifndef EVALCORE_C_REQUEST_H
#define EVALCORE_C_REQUEST_H

#include <evalcore/c/reply.h>
#include <evalcore/c/step_engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What is asked of a backend: turns of a conversation to be answered, or continuations of a context to be
 * scored. One thread at a time; may be used for many submissions. All that is given is copied during the
 * call. What is left open is the backend's own default: many then sample.
 */
typedef struct evc_request evc_request;

/** Who speaks in a turn. */
enum { EVC_ROLE_SYSTEM = 1, EVC_ROLE_DEVELOPER = 2, EVC_ROLE_USER = 3, EVC_ROLE_ASSISTANT = 4 };

/** Nothing asked yet. NULL: no memory. Caller frees with evc_request_free. */
EVC_API evc_request* evc_request_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_request_free(evc_request* request) EVC_NOEXCEPT;
/** Why the last call that set or added something was refused, for a person; empty: it was not. Borrowed until
 * the next. */
EVC_API evc_str evc_request_refusal(const evc_request* request) EVC_NOEXCEPT;

/** Default: the backend's. */
EVC_API evc_status evc_request_set_model(evc_request* request, evc_str model) EVC_NOEXCEPT;
/** Adds a turn of text. `role`: one of EVC_ROLE_…. */
EVC_API evc_status evc_request_add_message(evc_request* request, int32_t role, evc_str text) EVC_NOEXCEPT;
/** Adds the answer as the assistant's turn, with its calls and its reasoning as they came. */
EVC_API evc_status evc_request_add_reply(evc_request* request, const evc_reply* reply) EVC_NOEXCEPT;
/** Adds what a tool gave for the call of this id. is_error 1: it failed, and `text` says how. */
EVC_API evc_status evc_request_add_tool_result(evc_request* request, evc_str call_id, evc_str text,
                                               int32_t is_error) EVC_NOEXCEPT;
/**
 * Adds turns given as a JSON list in the form of OpenAI's chat API: role, content (a text, or parts of type
 * text and image_url), tool_calls, tool_call_id. EVC_E_INVALID_REQUEST: what cannot be read, and nothing is
 * added.
 */
EVC_API evc_status evc_request_add_messages(evc_request* request, evc_str json,
                                            evc_error** error) EVC_NOEXCEPT;
/** The tools in place of those before, as a JSON list in the form of OpenAI's chat API, or the bare
 * functions. */
EVC_API evc_status evc_request_set_tools(evc_request* request, evc_str json, evc_error** error) EVC_NOEXCEPT;
/**
 * Further parameters as a JSON object, by their names in OpenAI's chat API: temperature, top_p, top_k,
 * max_tokens, seed, stop, tool_choice, parallel_tool_calls, response_format, logprobs, top_logprobs,
 * reasoning_effort; and thinking, as Anthropic's API has it. Tools come before it. It takes the place of all
 * parameters that were set before. EVC_E_INVALID_REQUEST: another name, or a value out of its range, and
 * nothing changes.
 */
EVC_API evc_status evc_request_set_params(evc_request* request, evc_str json, evc_error** error) EVC_NOEXCEPT;
/** Tokens of the answer, at least 1. */
EVC_API evc_status evc_request_set_max_tokens(evc_request* request, uint32_t tokens) EVC_NOEXCEPT;
/** 0 is greedy; finite, not negative. */
EVC_API evc_status evc_request_set_temperature(evc_request* request, double temperature) EVC_NOEXCEPT;
/** 0 to 1. */
EVC_API evc_status evc_request_set_top_p(evc_request* request, double top_p) EVC_NOEXCEPT;
/** At least 1. */
EVC_API evc_status evc_request_set_top_k(evc_request* request, uint32_t top_k) EVC_NOEXCEPT;
EVC_API evc_status evc_request_set_seed(evc_request* request, int64_t seed) EVC_NOEXCEPT;
/** The answer ends before the first stop string that occurs. Not empty. */
EVC_API evc_status evc_request_add_stop(evc_request* request, evc_str text) EVC_NOEXCEPT;
/**
 * Requests of one key share the beginning of their prompts: they go to the same of several endpoints where
 * they can, and a backend that takes a cache key is told it. Never changes an answer.
 */
EVC_API evc_status evc_request_set_cache_key(evc_request* request, evc_str key) EVC_NOEXCEPT;
/** 1: EVC_EVENT_TEXT events while the answer comes. Default 0. */
EVC_API evc_status evc_request_set_stream(evc_request* request, int32_t wanted) EVC_NOEXCEPT;

/**
 * How likely does the model find each continuation after this context? Nothing is generated, and the request
 * may have no turns. Context and continuations are all text or all tokens.
 */
EVC_API evc_status evc_request_set_context(evc_request* request, evc_str text) EVC_NOEXCEPT;
/** The same by the ids of the model's own tokenizer, none of them negative. */
EVC_API evc_status evc_request_set_context_tokens(evc_request* request, evc_tokens tokens) EVC_NOEXCEPT;
/** Scored in the order in which they were added; not empty. All are one request to a pool. */
EVC_API evc_status evc_request_add_continuation(evc_request* request, evc_str text) EVC_NOEXCEPT;
EVC_API evc_status evc_request_add_continuation_tokens(evc_request* request, evc_tokens tokens) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
