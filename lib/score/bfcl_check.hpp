#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/chat/call_text.hpp>

#include "score/bfcl_target.hpp"

namespace evalcore::score {

enum class bfcl_rules : std::uint8_t {
  compat,  ///< The verdicts of BFCL's own checker.
  strict,  ///< What is odd in them mended.
};

/// Why something is wrong.
struct mismatch {
  std::string why;
  bool raises = false;  ///< BFCL's checker ends with an exception here, and the whole reply is wrong.
};

/// Whether a value is right for a parameter by the rules of BFCL's checker; absent when it is. Odd rules of
/// that checker, kept because a score must be comparable:
///   - strings are compared without case and without  ,./-_*^ and blanks, so "1.5" is "15";
///   - a value of another type than declared passes when the first accepted value has that type too, and is
///     then compared with Python's ==;
///   - an int is a float for a float parameter, but not inside an array of floats;
///   - values inside a dict are compared with ==, so true is 1; a dict inside it is compared as it stands.
[[nodiscard]] std::optional<mismatch> why_wrong_value(const declared_type& type,
                                                      const std::vector<chat::python_value>& accepted,
                                                      const chat::python_value& value);

/// The same without the oddities: signs and decimal points inside of numbers count, an int is a float in
/// arrays as well, true is never 1, and what a dict inside a dict accepts is read as that of the outer one.
[[nodiscard]] std::optional<mismatch> why_wrong_strictly(const declared_type& type,
                                                         const std::vector<chat::python_value>& accepted,
                                                         const chat::python_value& value);

/// The same for the calls of a reply; absent when they are right. `native` calls may bear the function's name
/// with _ for its dots, as tool-calling APIs demand. Calls are matched in any order: by BFCL's rules each
/// expected one takes the first that fits and is left, strictly so that all fit if they can.
[[nodiscard]] std::optional<std::string> why_wrong(const expected_calls& expected,
                                                   const std::vector<chat::python_call>& calls, bool native,
                                                   bfcl_rules how);

}  // namespace evalcore::score
