#pragma once

#include <evalcore/base/result.hpp>
#include <evalcore/chat/completion.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::backend {

/// Whether a request can be a text completion. Errors: invalid_argument unless it is one user's turn of text;
/// unsupported for what only a chat has a place for (tools, images, a say on thinking).
[[nodiscard]] result<void> check_completion(const chat::request& request);

/// A request as a text completion. Errors: those of check_completion().
[[nodiscard]] result<chat::completion_request> completion_of(const chat::request& request);

/// The answer to its only prompt.
[[nodiscard]] chat::reply reply_of(chat::completion_reply&& whole);

}  // namespace evalcore::backend
