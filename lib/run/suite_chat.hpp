#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::run {

// The parts of a suite line that make a request, in the shapes that the OpenAI chat API gives them. What is
// not understood is refused, never dropped: a request that lost something would still get an answer and a
// score. Errors: those of suite_members.hpp.

/// `name` is the member's name, for messages: `messages[2] lacks "role"`.
[[nodiscard]] result<std::vector<chat::message>> read_messages(const json::value& list,
                                                               std::string_view name);

/// {"type": "function", "function": {…}} or the bare {"name", "description", "parameters"}.
[[nodiscard]] result<std::vector<chat::tool>> read_tools(const json::value& list, std::string_view name);

}  // namespace evalcore::run
