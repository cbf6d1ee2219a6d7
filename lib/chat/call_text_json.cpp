#include <charconv>

#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat {
namespace {

json::array to_array(const std::vector<python_value>& elements) {  // NOLINT(misc-no-recursion)
  json::array out;
  out.reserve(elements.size());
  for (const auto& element : elements) out.push_back(to_json(element));
  return out;
}

/// JSON keys are strings: what Python's json.dumps makes of the keys that it takes, and repr() of others.
std::string to_key(const python_value& key) {
  if (const auto* text = std::get_if<std::string>(&key.state)) return *text;
  if (const auto* flag = std::get_if<bool>(&key.state)) return *flag ? "true" : "false";
  return std::holds_alternative<python_value::none>(key.state) ? "null" : repr(key);
}

}  // namespace

python_value from_json(const json::value& value) {  // NOLINT(misc-no-recursion)
  if (const auto* flag = value.if_bool()) return python_value(*flag);
  if (const auto* number = value.if_int()) return python_value(*number);
  if (const auto* big = value.if_uint()) return python_value(python_value::big_int{std::to_string(*big)});
  if (const auto* real = value.if_double()) return python_value(*real);
  if (const auto* text = value.if_string()) return python_value(*text);
  if (const auto* elements = value.if_array()) {
    python_value::list out;
    out.elements.reserve(elements->size());
    for (const auto& element : *elements) out.elements.push_back(from_json(element));
    return python_value(std::move(out));
  }
  if (const auto* members = value.if_object()) {
    python_value::dict out;
    out.items.reserve(members->size());
    for (const auto& [key, member] : *members) out.items.emplace_back(python_value(key), from_json(member));
    return python_value(std::move(out));
  }
  return {};
}

json::value to_json(const python_value& value) {  // NOLINT(misc-no-recursion)
  if (const auto* flag = std::get_if<bool>(&value.state)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&value.state)) return *number;
  if (const auto* real = std::get_if<double>(&value.state)) return *real;
  if (const auto* text = std::get_if<std::string>(&value.state)) return *text;
  if (const auto* list = std::get_if<python_value::list>(&value.state)) return to_array(list->elements);
  if (const auto* tuple = std::get_if<python_value::tuple>(&value.state)) return to_array(tuple->elements);
  if (const auto* big = std::get_if<python_value::big_int>(&value.state)) {
    std::uint64_t number = 0;
    const char* end = big->digits.data() + big->digits.size();
    const auto [stop, failure] = std::from_chars(big->digits.data(), end, number);
    if (failure == std::errc{} && stop == end) return number;
    return big->digits;
  }
  if (const auto* dict = std::get_if<python_value::dict>(&value.state)) {
    json::object out;
    out.reserve(dict->items.size());
    for (const auto& [key, member] : dict->items) out.emplace_back(to_key(key), to_json(member));
    return out;
  }
  return nullptr;
}

}  // namespace evalcore::chat
