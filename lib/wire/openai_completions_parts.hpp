#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/completion.hpp>

#include "wire/json_view.hpp"

/// What whole and streamed text completions have in common.
namespace evalcore::wire {

/// Reads JSON in which bare -Infinity may stand for a number, as Python writes it; it reads as the floor of
/// logprobs. The element lives until the next text.
class completion_reader {
 public:
  [[nodiscard]] std::optional<element> read(std::string_view text);
  void rest() noexcept { reader_.rest(); }
  [[nodiscard]] const chat::json_damage& damage() const noexcept { return reader_.damage(); }

 private:
  json_reader reader_;
};

/// Appends the tokens of a choice: `tokens`, `token_logprobs`, … side by side, or the `content` of chat. The
/// first of all may have no logprob. Errors: bad_reply for lists that do not fit together and what is no
/// number.
[[nodiscard]] result<void> read_tokens(const element& choice, std::vector<chat::completion_token>& into);

/// Takes over text, tokens and finish reason of one choice. Returns whether it brought text.
[[nodiscard]] result<bool> read_completion(const element& choice, chat::completion& into);

/// A prompt each, or the one that is missing.
[[nodiscard]] result<void> check_complete(const std::vector<bool>& answered);

}  // namespace evalcore::wire
