#pragma once

#include <optional>
#include <string_view>

#include <evalcore/base/error.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/wire/dialect.hpp>

#include "wire/json_view.hpp"

/// What whole and streamed OpenAI chat answers have in common.
namespace evalcore::wire {

/// The choice with index 0 (an absent index is 0).
[[nodiscard]] std::optional<element> first_choice(const element& root);

/// `content` of a message or delta; absent and null are empty. Nullopt for what is not text.
[[nodiscard]] std::optional<std::string_view> content_text(const element& message);

/// Under either of its two names.
[[nodiscard]] std::string_view reasoning_text(const element& message);

/// Adds the tokens of the list `key`, if there is one.
void read_token_list(const element& from, std::string_view key, std::vector<chat::token_logprob>& into);

/// Adds the entries of a choice's `logprobs`.
void read_logprobs(const element& choice, std::vector<chat::token_logprob>& into);

/// What a choice says about its stop string, and a message or delta about a refusal.
void read_stop_string(const element& choice, chat::reply& into);
void read_refusal(const element& message, chat::reply& into);

/// At the end: takes reasoning out of the text where the server left it there.
void split_reasoning(const dialect& ways, chat::reply& whole);

/// Takes `finish_reason` of a choice over. Null and "" are none; a second one does not replace the first.
/// Errors: backend_fault where the server says with it that it failed.
[[nodiscard]] std::optional<error> read_finish(const element& choice, chat::reply& into);

/// Takes over what the usage object of `root` says and keeps the rest: it may come more than once, and not
/// each time with every count.
void read_usage(const element& root, chat::usage& into);

/// The error that a body with status 200 holds, if it is one.
[[nodiscard]] std::optional<error> error_inside(const element& root);

/// The error that this body is, whatever it looks like.
[[nodiscard]] error error_of(std::optional<int> status, const element& root);

}  // namespace evalcore::wire
