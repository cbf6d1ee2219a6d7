#pragma once

#include <string_view>

#include <evalcore/base/result.hpp>

#include "chat/python_tree.hpp"

namespace evalcore::chat::python {

/// Parses one list display, `[…]`, and nothing after it but line ends. Errors: bad_reply for what is not
/// Python, for nesting beyond tree_depth, and for what is Python but not read: lambdas, comprehensions,
/// await, yield, bytes, f-strings and complex numbers.
[[nodiscard]] result<tree> parse_list(std::string_view source);

}  // namespace evalcore::chat::python
