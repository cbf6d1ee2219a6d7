#pragma once

#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::chat {

/// A tool as a tool-calling API takes it. BFCL declares tools with Python's type names ("dict", "float",
/// "tuple") and with dots in function names; APIs want JSON Schema types and names of [A-Za-z0-9_-]. A tool
/// that already fits comes back unchanged, byte for byte, since prefix caches compare bytes.
/// Errors: bad_suite when `parameters` is not a JSON object.
[[nodiscard]] result<tool> to_api_tool(const tool& declared);

}  // namespace evalcore::chat
