#pragma once

#include <optional>
#include <string>

#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat::python {

/// A text that two hashable values share exactly when Python finds them equal (1, 1.0 and True do).
/// Absent for lists and dicts, which Python does not hash.
[[nodiscard]] std::optional<std::string> hash_text(const python_value& value);

}  // namespace evalcore::chat::python
