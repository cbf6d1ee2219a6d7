#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

/// Ids as the model's own tokenizer numbers them.
using token_ids = std::vector<std::uint32_t>;

/// What a model is to continue.
using prompt = std::variant<std::string, token_ids>;

/// A request for text completions: no turns, no template, the prompt as it stands.
struct completion_request {
  std::string model;            ///< Empty: the backend's default model.
  std::vector<prompt> prompts;  ///< At least one; all text or all ids.
  parameters params;
  bool echo =
      false;  ///< The answer begins with the prompt; with logprobs, those of the prompt stand there too.
  cache_hints hints;
};

/// The logprob of a token that the model rules out. Servers write it as null, -9999, "-inf", -Infinity or the
/// least number of a type; all of these, and whatever is lower, become this value, so that sums stay finite
/// and comparable.
inline constexpr double logprob_floor = -9999.0;

/// One token of a completion. Its logprob is absent where nothing stands before it, and never below
/// logprob_floor.
struct completion_token : token_logprob {
  std::optional<std::uint64_t> text_offset;  ///< Where it begins in the text, as the backend counts.
};

/// The answer to one prompt. Ending by length is an answer, not an error.
struct completion {
  std::string text;
  finish_reason finish = finish_reason::other;
  std::string finish_raw;                ///< The backend's own word.
  std::vector<completion_token> tokens;  ///< Empty unless logprobs were asked for and given.
};

/// The answers to all prompts, in their order.
struct completion_reply {
  std::vector<completion> completions;
  std::string model;  ///< As the backend names itself.
  chat::usage usage;  ///< Of all prompts together; absent where the backend counts only one of several.
  chat::timing timing;
  std::vector<std::string> dropped;  ///< Fields of the request that the backend cannot honour.
  json_damage damage;
};

/// The tokens of each prompt, without what was generated after it: views into `reply`, which must outlive
/// them. `request` must have asked for echo, logprobs and at most one token.
///
/// Many servers ignore echo and give logprobs of generated tokens, in the same field; a score made of those
/// is chance. So the count is checked against the prompt's ids, or against the tokens that the backend says
/// the prompts have, and the first token of each must have no logprob, since nothing stands before it.
/// Errors: unsupported when the reply does not hold the logprob of every prompt token, or nothing tells how
/// many those are; invalid_argument for a request of another kind; bad_reply for a missing completion.
[[nodiscard]] result<std::vector<std::span<const completion_token>>> prompt_logprobs(
    const completion_request& request, const completion_reply& reply);

}  // namespace evalcore::chat
