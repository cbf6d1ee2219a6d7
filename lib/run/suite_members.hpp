#pragma once

#include <span>
#include <string>
#include <string_view>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>

namespace evalcore::run {

// The members of a suite line. Errors: bad_suite; the message says what is wrong, `where` says in which part
// of the line, and the caller puts file and line in front of it. Absent and null are the same.

[[nodiscard]] error bad_line(std::string what);

/// As JSON, cut where it is long.
[[nodiscard]] std::string quoted(std::string_view text);

/// Null when it is absent or null.
[[nodiscard]] const json::value* given(const json::value& object, std::string_view key);

/// Empty when it is absent.
[[nodiscard]] result<std::string> optional_string(const json::value& object, std::string_view key,
                                                  const std::string& where);
[[nodiscard]] result<std::string> required_string(const json::value& object, std::string_view key,
                                                  const std::string& where);

/// "text, image_url"
[[nodiscard]] std::string listed(std::span<const std::string_view> words);

/// Refuses a member that would be lost.
[[nodiscard]] result<void> only_known(const json::object& members, std::span<const std::string_view> known,
                                      const std::string& where);

}  // namespace evalcore::run
