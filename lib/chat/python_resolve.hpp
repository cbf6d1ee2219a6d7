#pragma once

#include <vector>

#include <evalcore/base/result.hpp>

#include "chat/python_tree.hpp"

namespace evalcore::chat::python {

/// The calls that the list at the root holds, as BFCL's decoder resolves them. Errors: bad_reply when an
/// element is not a call or an argument has no value.
[[nodiscard]] result<std::vector<python_call>> resolve_calls(const tree& all);

}  // namespace evalcore::chat::python
