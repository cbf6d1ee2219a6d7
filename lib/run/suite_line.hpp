#pragma once

#include <string>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/run/suite.hpp>

namespace evalcore::run {

/// The id of a line, a whole number as its digits. Errors as in suite_members.hpp, here and below.
[[nodiscard]] result<std::string> read_id(const json::value& line);

/// One line of a plain suite; `line` stays 0.
[[nodiscard]] result<item> plain_item(const json::value& line);

}  // namespace evalcore::run
