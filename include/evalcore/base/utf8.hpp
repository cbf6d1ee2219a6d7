#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evalcore {

/// The character at the front of a text, or what stands in the place of one.
struct utf8_step {
  std::size_t bytes;
  bool valid;  ///< If not, the bytes are the longest front of a character that is cut or goes on wrongly.
};

/// `text` must not be empty.
[[nodiscard]] utf8_step first_utf8(std::string_view text) noexcept;

/// The text with one U+FFFD for each step that is not valid: what the Unicode standard recommends, and what
/// Python and browsers do.
[[nodiscard]] std::string replace_invalid_utf8(std::string_view text);

}  // namespace evalcore
