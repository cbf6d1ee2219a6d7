#pragma once

#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

/// A tool as a tool-calling API takes it. BFCL declares tools with Python's type names ("dict", "float",
/// "tuple") and with dots in function names; APIs want JSON Schema types and names of [A-Za-z0-9_-]. A tool
/// that already fits comes back unchanged, byte for byte, since prefix caches compare bytes.
/// Errors: bad_suite when `parameters` is not a JSON object.
[[nodiscard]] result<tool> to_api_tool(const tool& declared);

/// The tool as a model is asked to call it whose functions are written in another language than JSON can tell
/// the values of: each parameter is a string, and its description says of what type it holds the source text.
/// Errors: bad_suite when the parameters are no JSON object.
[[nodiscard]] result<tool> with_source_text(const tool& declared, std::string_view language);

}  // namespace evalcore::chat
