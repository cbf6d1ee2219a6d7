#pragma once

#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat::python {

/// The value of a number token: an int64, a big_int or a double. Errors: bad_reply for a malformed one, a
/// complex one, and an integer of more than 4,300 digits (CPython's own bound).
[[nodiscard]] result<python_value> number_value(std::string_view token);

struct string_literal {
  std::string text;
  bool marked_unicode = false;  ///< u"…": ast.unparse keeps the mark.
};

/// The value of a string token. Errors: bad_reply for malformed escapes, for lone surrogates, which UTF-8
/// cannot hold, and for bytes, f-strings and \N{…}, which are not read.
[[nodiscard]] result<string_literal> string_value(std::string_view token);

}  // namespace evalcore::chat::python
