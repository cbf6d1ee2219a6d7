#ifndef EVALCORE_C_REPLY_H
#define EVALCORE_C_REPLY_H

#include <evalcore/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A whole answer. It belongs to the event that brought it, and so does all that the functions below give:
 * borrowed until the event is freed. One thread at a time. Of NULL they give what an empty reply has.
 */
typedef struct evc_reply evc_reply;

/** Why an answer ended. A program treats a value that it does not know as EVC_FINISH_OTHER. */
enum {
  EVC_FINISH_STOP = 1,           /**< The model's own end, or a stop string. */
  EVC_FINISH_LENGTH = 2,         /**< Cut by max_tokens or the context. */
  EVC_FINISH_TOOL_CALLS = 3,     /**< It calls tools. */
  EVC_FINISH_CONTENT_FILTER = 4, /**< A filter cut it. */
  EVC_FINISH_OTHER = 5           /**< Another reason, or none was given. */
};

/** Classes of tokens, as the backend counts them. */
enum {
  EVC_TOKENS_PROMPT = 1,     /**< Cached ones included. */
  EVC_TOKENS_CACHED = 2,     /**< Of the prompt: not computed again. */
  EVC_TOKENS_COMPLETION = 3, /**< Reasoning included. */
  EVC_TOKENS_REASONING = 4,  /**< Of the completion. */
  EVC_TOKENS_CACHE_WRITE = 5 /**< Of the prompt: put into a paid cache. */
};

/** The answer's text, without reasoning. */
EVC_API evc_str evc_reply_text(const evc_reply* reply) EVC_NOEXCEPT;
/** What the model thought before it, where the backend tells. */
EVC_API evc_str evc_reply_reasoning(const evc_reply* reply) EVC_NOEXCEPT;
/** A JSON list of calls as OpenAI's chat API has them: [{id, type, function: {name, arguments}}]. */
EVC_API evc_str evc_reply_tool_calls(const evc_reply* reply) EVC_NOEXCEPT;
/** One of EVC_FINISH_…. */
EVC_API int32_t evc_reply_finish_reason(const evc_reply* reply) EVC_NOEXCEPT;
/** Tokens of one class (EVC_TOKENS_…); -1: the backend does not tell. */
EVC_API int64_t evc_reply_tokens(const evc_reply* reply, int32_t token_class) EVC_NOEXCEPT;
/** Seconds from sending the last attempt to its first token; -1: not seen. */
EVC_API double evc_reply_first_token_s(const evc_reply* reply) EVC_NOEXCEPT;
/** Seconds from sending the last attempt to its end; -1: not known. */
EVC_API double evc_reply_total_s(const evc_reply* reply) EVC_NOEXCEPT;

/** Continuations that were scored; 0 unless the request had some. */
EVC_API size_t evc_reply_score_count(const evc_reply* reply) EVC_NOEXCEPT;
/** The continuation's sum of natural logarithms of probability, 0 or less; NaN: there is none such. */
EVC_API double evc_reply_sum_logprob(const evc_reply* reply, size_t continuation) EVC_NOEXCEPT;
/** 1: each of its tokens is the likeliest in its place; 0: one is not; -1: the backend does not tell. */
EVC_API int32_t evc_reply_is_greedy(const evc_reply* reply, size_t continuation) EVC_NOEXCEPT;

/**
 * All of it as a JSON object: {text, reasoning, tool_calls, finish_reason, finish_raw, model, refusal, usage,
 * timings, dropped, logprobs, scores, metadata}. usage: {prompt_tokens, cached_tokens, completion_tokens,
 * reasoning_tokens, cache_write_tokens}; timings: {first_token_s, total_s}. What is not known is null; what
 * the request did not ask for is left out. Members may be added. Empty: out of memory.
 */
EVC_API evc_str evc_reply_json(const evc_reply* reply) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
