#pragma once

#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat::source {

/// The call in a text of Java or JavaScript, as BFCL's decoder reads it: `f(a=1, b="x")`, each value as its
/// source text, of a string what stands between the quotes. Java: the first method call, wherever it stands,
/// white space inside its values gone where no call is, and the body of an anonymous class, too. JavaScript:
/// the first statement that is a call. An argument without a name, where that decoder keeps it, has an empty
/// one. Errors: bad_reply.
[[nodiscard]] result<python_call> read_call(std::string_view text, call_language in);

}  // namespace evalcore::chat::source
