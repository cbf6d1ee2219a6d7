#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>

namespace evalcore::chat::python {

enum class token_kind : std::uint8_t {
  name,  ///< Keywords too.
  number,
  string,  ///< With its prefix and quotes.
  op,
  newline,  ///< Only outside brackets.
  end,
};

struct token {
  token_kind kind = token_kind::end;
  std::string_view text;
};

/// Brackets may stand this deep in one another, as in CPython's tokenizer.
inline constexpr std::size_t bracket_depth = 200;

/// Line ends as Python's tokenizer sees them: CR and CR LF become LF.
[[nodiscard]] std::string with_line_feeds(std::string_view text);

/// The tokens of one expression; the views point into `source`. The last one is `end`. Errors: bad_reply
/// for bytes that Python's tokenizer refuses.
[[nodiscard]] result<std::vector<token>> tokenize(std::string_view source);

}  // namespace evalcore::chat::python
