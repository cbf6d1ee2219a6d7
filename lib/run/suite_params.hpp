#pragma once

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::run {

/// The member `params` of a suite line, as OpenAI's chat API writes its fields, and `thinking` as Anthropic's
/// writes it. `into` has the line's tools already, of which `tool_choice` speaks. Errors: those of
/// suite_members.hpp.
[[nodiscard]] result<void> read_params(const json::value& params, chat::request& into);

}  // namespace evalcore::run
