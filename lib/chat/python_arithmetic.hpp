#pragma once

#include <evalcore/base/result.hpp>

#include "chat/python_tree.hpp"

namespace evalcore::chat::python {

/// What Python's eval() gives for an expression of number and string constants: + - * / // % ** << >> & | ^
/// and signs on numbers, + on strings. Errors: bad_reply where Python would raise, and for names, calls,
/// containers and integers that leave 64 bits, which are not evaluated.
[[nodiscard]] result<python_value> evaluate(const tree& all, node_id id);

/// -x for a number, as the reference reads every sign. Errors: bad_reply for anything else.
[[nodiscard]] result<python_value> negate(const python_value& value);

}  // namespace evalcore::chat::python
