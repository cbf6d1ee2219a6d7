#pragma once

#include <optional>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>

namespace evalcore::run {

/// A reply as a file of replies has it (score_replies()); absent where the line, of a BFCL result file, says
/// that the inference failed. Errors as in suite_members.hpp.
[[nodiscard]] result<std::optional<chat::reply>> reply_of_line(const json::value& line);

}  // namespace evalcore::run
