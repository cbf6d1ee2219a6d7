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

#include "score/bfcl_language.hpp"

namespace evalcore::score {

[[nodiscard]] python_type type_of(const chat::python_value& value) noexcept;
/// "NoneType", "int", …
[[nodiscard]] std::string_view name(python_type type) noexcept;

/// What a function declares of one parameter.
struct declared_type {
  std::string word;                   ///< As BFCL writes it: "float", "tuple".
  std::string nested_word;            ///< The same of the elements; empty: none is declared.
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

/// What the reply to an item must hold.
struct expected_calls {
  enum class kind : std::uint8_t {
    these,      ///< The calls, in any order.
    some_call,  ///< Whichever: the item asks whether one is made.
    no_call,
  };
  kind what = kind::these;
  chat::call_language language = chat::call_language::python;
  std::vector<expected_call> calls;  ///< Of `these`, at least one.
};

/// Reads BFCL's ground truth and the declarations of the functions that it names; the category says whether
/// none is needed. Errors: bad_suite, for a category that is not built (multi-turn, memory, web search) and
/// for a target or a tool that is not in BFCL's form.
[[nodiscard]] result<expected_calls> read_expected(const task& what);

}  // namespace evalcore::score
