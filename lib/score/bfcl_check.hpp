#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evalcore/chat/call_text.hpp>

#include "score/bfcl_target.hpp"

namespace evalcore::score {

/// Whether a value is right for a parameter by the rules of BFCL's Python checker; absent when it is, else
/// why it is not. Odd rules of that checker, kept because a score must be comparable:
///   - strings are compared without case and without  ,./-_*^ and blanks, so "1.5" is "15";
///   - a value of another type than declared passes when the first accepted value has that type too, and is
///     then compared with Python's ==;
///   - an int is a float for a float parameter, but not inside an array of floats;
///   - values inside a dict are compared with ==, so true is 1; a dict inside it is compared as it stands.
[[nodiscard]] std::optional<std::string> why_wrong_value(const declared_type& type,
                                                         const std::vector<chat::python_value>& accepted,
                                                         const chat::python_value& value);

/// The same for the calls of a reply. `native` calls may bear the function's name with _ for its dots, as
/// tool-calling APIs demand.
[[nodiscard]] std::optional<std::string> why_wrong(const expected_call& expected,
                                                   const std::vector<chat::python_call>& calls, bool native);

}  // namespace evalcore::score
