#ifndef EVALCORE_C_ENGINE_REQUEST_H
#define EVALCORE_C_ENGINE_REQUEST_H

#include <evalcore/c/step_engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How an engine admits and runs requests. One thread at a time. A value out of its range is refused with
 * EVC_E_INVALID_ARGUMENT and changes nothing.
 */
typedef struct evc_engine_options evc_engine_options;

/** Everything at its default. NULL: no memory. Caller frees with evc_engine_options_free. */
EVC_API evc_engine_options* evc_engine_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_engine_options_free(evc_engine_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_engine_options_refusal(const evc_engine_options* options) EVC_NOEXCEPT;
/** Requests that run at once, at least 1. Default 4. */
EVC_API evc_status evc_engine_options_set_max_batch_size(evc_engine_options* options,
                                                         uint32_t requests) EVC_NOEXCEPT;
/** Requests that wait, at least 1. Default 32. */
EVC_API evc_status evc_engine_options_set_max_queue_size(evc_engine_options* options,
                                                         uint32_t requests) EVC_NOEXCEPT;
/** How long a batch that begins waits for company: 0 to 1,000 milliseconds. Default 10. */
EVC_API evc_status evc_engine_options_set_batch_wait_ms(evc_engine_options* options,
                                                        uint32_t milliseconds) EVC_NOEXCEPT;
/** How long a request may wait for its turn: seconds, above 0 and finite. Default 120. */
EVC_API evc_status evc_engine_options_set_queue_timeout_s(evc_engine_options* options,
                                                          double seconds) EVC_NOEXCEPT;
/** Records that a request holds until they are polled, at least 1. Default 256. */
EVC_API evc_status evc_engine_options_set_output_queue_size(evc_engine_options* options,
                                                            uint32_t records) EVC_NOEXCEPT;
/** 1: requests that sample run together where the engine can do that; 0: each runs alone. Default 0, of
 * evc_engine_open 1. */
EVC_API evc_status evc_engine_options_set_per_row_sampling(evc_engine_options* options,
                                                           int32_t together) EVC_NOEXCEPT;
/** Bytes that kept prefixes may take, above 0. Default: a quarter of the working set, at most 8 GiB. */
EVC_API evc_status evc_engine_options_set_cache_max_bytes(evc_engine_options* options,
                                                          uint64_t bytes) EVC_NOEXCEPT;
/** How many prefixes are kept, at least 1. Default: as many as the bytes hold; two for a recurrent model. */
EVC_API evc_status evc_engine_options_set_cache_max_snapshots(evc_engine_options* options,
                                                              uint32_t snapshots) EVC_NOEXCEPT;
/** Only for evc_engine_open: prompt and answer of a request together, at least 1. Default 4,096. */
EVC_API evc_status evc_engine_options_set_context_tokens(evc_engine_options* options,
                                                         uint32_t tokens) EVC_NOEXCEPT;
/** Only for evc_engine_open: threads that compute, at least 1. Default 1. */
EVC_API evc_status evc_engine_options_set_threads(evc_engine_options* options, uint32_t threads) EVC_NOEXCEPT;
/** Only for evc_engine_open: "parity" (the default) or "fast", as for the backend (docs/engine.md). */
EVC_API evc_status evc_engine_options_set_evaluation(evc_engine_options* options, evc_str name) EVC_NOEXCEPT;
/** Only for evc_engine_open: a folder, as for the backend. Default: none. */
EVC_API evc_status evc_engine_options_set_verdict_folder(evc_engine_options* options,
                                                         evc_str path) EVC_NOEXCEPT;

/**
 * What is asked of an engine. One thread at a time; may be used for many submissions. All that is given is
 * copied during the call. Values are checked when the request is submitted.
 */
typedef struct evc_engine_request evc_engine_request;

/** An empty prompt, greedy. NULL: no memory. Caller frees with evc_engine_request_free. */
EVC_API evc_engine_request* evc_engine_request_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_engine_request_free(evc_engine_request* request) EVC_NOEXCEPT;
/** Why the last call that set or added something was refused, for a person; empty: it was not. Borrowed until
 * the next. */
EVC_API evc_str evc_engine_request_refusal(const evc_engine_request* request) EVC_NOEXCEPT;
/** The prompt as text. special 1: as a chat template writes it, special tokens spelled out; 0: text is text.
 */
EVC_API evc_status evc_engine_request_set_prompt(evc_engine_request* request, evc_str text,
                                                 int32_t special) EVC_NOEXCEPT;
/** The prompt as tokens, in the place of text. */
EVC_API evc_status evc_engine_request_set_prompt_tokens(evc_engine_request* request,
                                                        evc_tokens tokens) EVC_NOEXCEPT;
/** Turns as OpenAI's chat API has them, a JSON array, in the place of text: the engine's template writes the
 * prompt. EVC_E_INVALID_REQUEST: no such turns. */
EVC_API evc_status evc_engine_request_set_messages(evc_engine_request* request, evc_str json,
                                                   evc_error** error) EVC_NOEXCEPT;
/** Tokens of the answer, at least 1. Default: as many as the context holds after the prompt. */
EVC_API evc_status evc_engine_request_set_max_tokens(evc_engine_request* request,
                                                     uint32_t tokens) EVC_NOEXCEPT;
/** 0 (the default) is greedy. */
EVC_API evc_status evc_engine_request_set_temperature(evc_engine_request* request,
                                                      double temperature) EVC_NOEXCEPT;
/** Above 0, at most 1. Default 1. */
EVC_API evc_status evc_engine_request_set_top_p(evc_engine_request* request, double top_p) EVC_NOEXCEPT;
/** 0 (the default): all. */
EVC_API evc_status evc_engine_request_set_top_k(evc_engine_request* request, uint32_t top_k) EVC_NOEXCEPT;
/** Default: the engine draws one. */
EVC_API evc_status evc_engine_request_set_seed(evc_engine_request* request, uint64_t seed) EVC_NOEXCEPT;
/**
 * Further controls as a JSON object: min_p, repetition_penalty, presence_penalty, frequency_penalty,
 * logit_bias (an object from token id to number). EVC_E_INVALID_REQUEST: another name, or a value of another
 * kind.
 */
EVC_API evc_status evc_engine_request_set_controls(evc_engine_request* request, evc_str json,
                                                   evc_error** error) EVC_NOEXCEPT;
/** The answer ends before the first stop string that occurs. Not empty. */
EVC_API evc_status evc_engine_request_add_stop(evc_engine_request* request, evc_str text) EVC_NOEXCEPT;
/** Each token comes with its logprob and those of the likeliest `top` in its place. */
EVC_API evc_status evc_engine_request_set_logprobs(evc_engine_request* request, uint32_t top) EVC_NOEXCEPT;
/** Nothing is generated; each continuation is scored as if it followed the prompt. */
EVC_API evc_status evc_engine_request_add_continuation(evc_engine_request* request,
                                                       evc_tokens tokens) EVC_NOEXCEPT;
/** Requests of one scope and key lend each other what they computed of the same tokens. */
EVC_API evc_status evc_engine_request_set_cache(evc_engine_request* request, evc_str scope,
                                                evc_str key) EVC_NOEXCEPT;
/**
 * After so many tokens of the prompt others are expected to go on differently: what the prompt holds there is
 * kept. Needs set_cache before it. Without any: one point shortly before the end, for a conversation's next
 * turn.
 */
EVC_API evc_status evc_engine_request_add_cache_cut(evc_engine_request* request,
                                                    uint32_t tokens) EVC_NOEXCEPT;
/** 1: EVC_ENGINE_EVENT_PROGRESS events. Default 0. */
EVC_API evc_status evc_engine_request_set_progress(evc_engine_request* request, int32_t wanted) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
