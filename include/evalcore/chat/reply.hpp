#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

enum class finish_reason : std::uint8_t { stop, length, tool_calls, content_filter, other };

[[nodiscard]] std::string_view name(finish_reason why) noexcept;

/// Token counts as the backend reports them. Absent is unknown, never 0.
struct usage {
  std::optional<std::uint64_t> prompt_tokens;  ///< Cached ones included, whatever the backend's habit.
  std::optional<std::uint64_t> cached_tokens;  ///< Of the prompt, how many were not computed again.
  std::optional<std::uint64_t> completion_tokens;
  std::optional<std::uint64_t> reasoning_tokens;    ///< Of the completion.
  std::optional<std::uint64_t> cache_write_tokens;  ///< Of the prompt, how many were put into a paid cache.
};

/// A token that could have stood in some place. What a server does not tell is absent.
struct token_choice {
  std::string token;  ///< As text: a cut character is U+FFFD, or the vocabulary's own spelling.
  std::optional<std::string> bytes;  ///< The bytes that it stands for; alone they need not be UTF-8.
  std::optional<double> logprob;     ///< Natural logarithm, 0 or less.
};

/// A token of the answer with the likeliest tokens in its place, if they were asked for.
struct token_logprob : token_choice {
  std::vector<token_choice> top;
};

/// Measured by evalcore from dispatch, in this process from admission by the engine; absent where it was not
/// seen (a reply that was not streamed has no first token).
struct timing {
  std::optional<duration> first_token;  ///< TTFT: the first delta that carries text, reasoning or a call.
  std::optional<duration> total;
};

/// What was wrong in the JSON of an answer where a rule settles how it reads. The answer stands; its server
/// deserves a look.
struct json_damage {
  bool duplicate_key = false;   ///< A key stood twice in one object; the last one counted.
  bool invalid_utf8 = false;    ///< Bytes that are no UTF-8 were read as U+FFFD.
  bool lone_surrogate = false;  ///< Half of a surrogate pair was read as U+FFFD.

  friend bool operator==(const json_damage&, const json_damage&) = default;
};

/// What lm-eval calls a loglikelihood result.
struct loglikelihood {
  double sum_logprob = 0;  ///< Natural logarithm, over the tokens of the continuation.
  /// Whether each of them is the likeliest in its place; absent: the backend does not tell the likeliest.
  std::optional<bool> is_greedy;
  std::uint64_t tokens = 0;  ///< Of the continuation, as the model's tokenizer cuts it.
};

/// A whole answer. Ending by length is an answer, not an error.
struct reply {
  std::string text;
  std::string reasoning;
  std::vector<thinking_block> thinking;  ///< The reasoning as its server wants it back; empty: it does not.
  std::vector<tool_call> calls;
  finish_reason finish = finish_reason::other;
  std::string finish_raw;   ///< The backend's own word.
  std::string stop_string;  ///< The stop string that ended the answer, where the backend tells.
  std::string refusal;      ///< Why the backend or the model refused, in its own words.
  std::string model;        ///< As the backend names itself.
  chat::usage usage;
  chat::timing timing;
  std::vector<token_logprob> logprobs;  ///< Of the tokens of `text`; empty: not asked for, or not given.
  /// Fields of the request that the backend cannot honour, by their names in OpenAI's API.
  std::vector<std::string> dropped;
  json_damage damage;
  json::object
      metadata;  ///< How an engine in this process ran it; empty elsewhere. Not kept in a run's store.
  std::vector<loglikelihood> choices = {};  ///< Of the request's choices, in their order.
};

}  // namespace evalcore::chat
