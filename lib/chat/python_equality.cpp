#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "chat/python_hash.hpp"

namespace evalcore::chat {

// Here and not defaulted in the class: clang wants the elements' type complete there.
bool operator==(const python_value::tuple& a, const python_value::tuple& b) {
  return a.elements == b.elements;
}
bool operator==(const python_value::list& a, const python_value::list& b) { return a.elements == b.elements; }
bool operator==(const python_value::dict& a, const python_value::dict& b) { return a.items == b.items; }
bool operator==(const python_value& a, const python_value& b) { return a.state == b.state; }

namespace python {
namespace {

/// A whole number as its decimal digits, whatever its type.
std::string number_text(double real) {
  if (real == 0) return "0";
  std::array<char, 400> buffer{};
  const auto format = std::trunc(real) == real && std::isfinite(real) ? std::chars_format::fixed
                                                                      : std::chars_format::scientific;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), real, format).ptr;
  return {buffer.data(), end};
}

std::optional<std::string> number_text(const python_value& value) {
  if (const auto* flag = std::get_if<bool>(&value.state)) return *flag ? "1" : "0";
  if (const auto* number = std::get_if<std::int64_t>(&value.state)) return std::to_string(*number);
  if (const auto* big = std::get_if<python_value::big_int>(&value.state)) return big->digits;
  if (const auto* real = std::get_if<double>(&value.state)) return number_text(*real);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> hash_text(const python_value& value) {  // NOLINT(misc-no-recursion)
  if (const auto number = number_text(value)) return "n" + *number;
  if (std::holds_alternative<python_value::none>(value.state)) return "none";
  if (const auto* text = std::get_if<std::string>(&value.state)) return "s" + *text;
  const auto* tuple = std::get_if<python_value::tuple>(&value.state);
  if (tuple == nullptr) return std::nullopt;
  std::string out = "t";
  for (const auto& element : tuple->elements) {
    const auto part = hash_text(element);
    if (!part) return std::nullopt;
    out += std::to_string(part->size()) + ':' + *part;
  }
  return out;
}

}  // namespace python

namespace {

bool equal_elements(const std::vector<python_value>& a, const std::vector<python_value>& b) {  // NOLINT
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!python_equal(a[i], b[i])) return false;
  }
  return true;
}

bool equal_dicts(const python_value::dict& a, const python_value::dict& b) {  // NOLINT(misc-no-recursion)
  if (a.items.size() != b.items.size()) return false;
  std::unordered_map<std::string, const python_value*> held;
  for (const auto& [key, value] : b.items) held.emplace(python::hash_text(key).value_or(""), &value);
  for (const auto& [key, value] : a.items) {
    const auto other = held.find(python::hash_text(key).value_or(""));
    if (other == held.end() || !python_equal(value, *other->second)) return false;
  }
  return true;
}

}  // namespace

bool python_equal(const python_value& a, const python_value& b) {  // NOLINT(misc-no-recursion)
  if (a.state.index() == b.state.index()) {
    if (const auto* list = std::get_if<python_value::list>(&a.state)) {
      return equal_elements(list->elements, std::get<python_value::list>(b.state).elements);
    }
    if (const auto* tuple = std::get_if<python_value::tuple>(&a.state)) {
      return equal_elements(tuple->elements, std::get<python_value::tuple>(b.state).elements);
    }
    if (const auto* dict = std::get_if<python_value::dict>(&a.state)) {
      return equal_dicts(*dict, std::get<python_value::dict>(b.state));
    }
    return a == b;
  }
  const auto left = python::number_text(a);
  const auto right = python::number_text(b);
  return left && right && *left == *right;
}

}  // namespace evalcore::chat
