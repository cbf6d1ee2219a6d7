#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::engine {

/// Among which requests what one computed of the same tokens is lent to the next.
struct prefix_sharing {
  std::string key;              ///< Requests of one key and scope share, whatever their text.
  std::string scope = "local";  ///< Not blank.
  /// Numbers of tokens of the prompt after which others are expected to go on differently: what the prompt
  /// holds there is kept. Rounded down to the engine's grid and to less than the whole prompt.
  /// Absent: one point shortly before the end, for the next turn of a conversation.
  std::optional<std::vector<std::uint32_t>> cuts;
};

/// A prompt that is no template's work: what looks like a special token is text, and the vocabulary's own
/// beginning is put before it.
struct plain_text {
  std::string text;
};

/// What is asked of an engine. Copied on submission: later changes have no effect.
struct request {
  /// Text as the model's template writes it, special tokens spelled out; plain text; tokens; or turns, of
  /// which what the template shows counts, and nothing else.
  std::variant<std::string, plain_text, std::vector<token>, chat::request> prompt;
  /// Of the answer, at least 1. Absent: as many as the context holds after the prompt.
  std::optional<std::uint32_t> max_tokens;
  sampling how;
  std::vector<std::string> stop;   ///< None of them empty. The answer ends before the first that occurs.
  bool logprobs = false;           ///< Of the tokens of the answer.
  std::uint32_t top_logprobs = 0;  ///< With each token, the likeliest this many; implies `logprobs`.
  /// Not empty: nothing is generated; each is scored as if it followed the prompt.
  std::vector<std::vector<token>> continuations;
  std::vector<image> media;
  std::optional<prefix_sharing> share;  ///< Absent: nothing is lent or borrowed.
  bool watch_prefill = false;           ///< The reader wants to hear how far the prompt is.
};

/// Errors: invalid_request with the field, its range and the value.
[[nodiscard]] result<void> check(const request& what);

/// Sets what a host knows by name: min_p, repetition_penalty, presence_penalty, frequency_penalty and
/// logit_bias (an object from token id to number); null leaves a value as it is. Errors: invalid_controls for
/// a name that a request has a field for (temperature, max_tokens, …), for one that is not known, and for a
/// value of another kind.
[[nodiscard]] result<void> set_controls(const json::object& named, sampling& how);

/// Whether it may run together with others: it is greedy and nothing bends its choice, or the engine samples
/// each row on its own and `per_row_sampling` is on.
[[nodiscard]] bool batchable(const request& what, const traits& engine, bool per_row_sampling) noexcept;

}  // namespace evalcore::engine
