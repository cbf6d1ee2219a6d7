#pragma once

#include <string>

#include <evalcore/base/result.hpp>

#include "chat/python_tree.hpp"

namespace evalcore::chat::python {

/// The expression as Python's ast.unparse writes it. Errors: bad_reply for the kinds in node_kind::other
/// and for **x.
[[nodiscard]] result<std::string> unparse(const tree& all, node_id id);

}  // namespace evalcore::chat::python
