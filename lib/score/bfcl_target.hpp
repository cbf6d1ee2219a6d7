#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/call_text.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::score {

/// Python's type() of a value.
enum class python_type : std::uint8_t { none, boolean, integer, floating, string, list, tuple, dict };

[[nodiscard]] python_type type_of(const chat::python_value& value) noexcept;
/// "NoneType", "int", …
[[nodiscard]] std::string_view name(python_type type) noexcept;

/// What a function declares of one parameter.
struct declared_type {
  std::string word;                   ///< As BFCL writes it: "float", "tuple".
  python_type outer;                  ///< What a value must be.
  std::optional<python_type> nested;  ///< What the elements of an array or tuple must be.
};

/// One expected call: which values are accepted for each parameter ("" among them: it may be left out).
struct expected_call {
  std::string function;
  std::vector<std::string> required;
  std::map<std::string, declared_type, std::less<>> parameters;  ///< Those that the target names as well.
  std::vector<std::pair<std::string, std::vector<chat::python_value>>> accepted;

  [[nodiscard]] const std::vector<chat::python_value>* accepted_for(
      std::string_view parameter) const noexcept;
};

/// Reads BFCL's ground truth and the declaration of the function that it names. Errors: bad_suite, for a
/// category that is not built (parallel, Java, JavaScript, multi-turn) and for a target or a tool that is
/// not in BFCL's form.
[[nodiscard]] result<expected_call> read_expected_call(const task& what);

}  // namespace evalcore::score
