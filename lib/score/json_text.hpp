#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>

namespace evalcore::score {

/// The JSON in a text: all of it, else what stands in its last block of code, else what stands between its
/// first bracket and the last one of that kind; absent: none of these is JSON. Takes linear time.
/// Errors: unsupported for JSON with a number that no 64 bits hold.
[[nodiscard]] result<std::optional<std::string>> json_in(std::string_view text);

}  // namespace evalcore::score
