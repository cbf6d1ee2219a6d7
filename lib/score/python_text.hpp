#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <evalcore/chat/call_text.hpp>

namespace evalcore::score {

// What Python's functions on text give, for the checkers that are written in it.

/// str.strip(), of ASCII's white space.
[[nodiscard]] std::string_view python_strip(std::string_view text) noexcept;
/// text.split(separator), which must not be empty: of an empty text one empty piece.
[[nodiscard]] std::vector<std::string_view> python_split(std::string_view text, std::string_view separator);
/// text.split(), which also re.split(r"\s+", …) cuts at: what stands between white space, that of Unicode and
/// the separators of ASCII (str.isspace).
[[nodiscard]] std::vector<std::string_view> python_words(std::string_view text);
/// text[1:-1], by characters.
[[nodiscard]] std::string_view without_ends(std::string_view text) noexcept;
/// int(text) of ASCII digits; absent where Python raises.
[[nodiscard]] std::optional<chat::python_value> python_int(std::string_view text);
/// float(text); absent where Python raises.
[[nodiscard]] std::optional<double> python_float(std::string_view text);

}  // namespace evalcore::score
