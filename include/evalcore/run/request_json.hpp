#pragma once

#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::run {

// The parts of a request as JSON texts, in the shapes that the lines of a suite give them (docs/suite.md).
// What is not understood is refused, never dropped. Errors: invalid_request, saying what and where.

/// A list of turns, at least one.
[[nodiscard]] result<std::vector<chat::message>> messages_from_json(std::string_view text);

/// A list of tools.
[[nodiscard]] result<std::vector<chat::tool>> tools_from_json(std::string_view text);

/// The request with the parameters of an object in place of its own. They may speak of its tools.
[[nodiscard]] result<chat::request> with_params_from_json(const chat::request& of, std::string_view text);

}  // namespace evalcore::run
