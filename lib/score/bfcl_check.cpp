#include "score/bfcl_check.hpp"

#include <algorithm>

#include "score/text.hpp"

namespace evalcore::score {
namespace {

const chat::python_value* argument(const chat::python_call& call, std::string_view name) {
  for (const auto& [held, value] : call.arguments) {
    if (held == name) return &value;
  }
  return nullptr;
}

bool names_match(const std::string& expected, const std::string& got, bool native) {
  if (got == expected) return true;
  std::string underscored = expected;
  std::ranges::replace(underscored, '.', '_');
  return native && got == underscored;
}

bool optional(const std::vector<chat::python_value>& accepted) {
  const chat::python_value empty{std::string()};
  return std::ranges::any_of(accepted, [&](const auto& one) { return one == empty; });
}

}  // namespace

std::optional<std::string> why_wrong(const expected_call& expected,
                                     const std::vector<chat::python_call>& calls, bool native) {
  if (calls.size() != 1) return "got " + std::to_string(calls.size()) + " calls, expected 1";
  const chat::python_call& call = calls.front();
  if (!names_match(expected.function, call.name, native)) {
    return "got function " + clipped(call.name) + ", expected " + expected.function;
  }
  for (const auto& name : expected.required) {
    if (argument(call, name) == nullptr) return "required parameter " + name + " is missing";
  }
  for (const auto& [name, value] : call.arguments) {
    const auto* accepted = expected.accepted_for(name);
    const auto type = expected.parameters.find(name);
    if (accepted == nullptr || type == expected.parameters.end())
      return "unexpected parameter " + clipped(name);
    if (const auto why = why_wrong_value(type->second, *accepted, value))
      return "parameter " + name + ": " + *why;
  }
  for (const auto& [name, accepted] : expected.accepted) {
    if (argument(call, name) == nullptr && !optional(accepted)) {
      return "parameter " + name + " is missing, and the target does not mark it as optional";
    }
  }
  return std::nullopt;
}

}  // namespace evalcore::score
