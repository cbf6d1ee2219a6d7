#pragma once

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>

namespace evalcore::run {

/// A reply as a file of replies has it (score_replies()). Errors as in suite_members.hpp.
[[nodiscard]] result<chat::reply> reply_of_line(const json::value& line);

}  // namespace evalcore::run
