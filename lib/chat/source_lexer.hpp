#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat::source {

enum class token_kind : std::uint8_t { word, number, string, op, end };

/// Of Java or JavaScript; comments are none.
struct token {
  token_kind kind = token_kind::end;
  std::string_view text;
  std::size_t begin = 0;    ///< In bytes.
  bool after_line = false;  ///< A line end stands before it.

  [[nodiscard]] bool is(std::string_view what) const noexcept {
    return kind != token_kind::string && text == what;
  }
  [[nodiscard]] std::size_t end() const noexcept { return begin + text.size(); }
};

/// The tokens of a text; the last one is `end`. Errors: bad_reply for what is no token of the language.
[[nodiscard]] result<std::vector<token>> tokenize(std::string_view text, call_language in);

}  // namespace evalcore::chat::source
