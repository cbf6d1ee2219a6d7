#include "run/suite_members.hpp"

#include <algorithm>
#include <utility>

namespace evalcore::run {

error bad_line(std::string what) { return fail(errc::bad_suite, stage::suite, std::move(what)); }

std::string quoted(std::string_view text) {
  constexpr std::size_t shown_bytes = 80;
  std::string out;
  json::append_quoted(out, text.substr(0, shown_bytes));
  return out;
}

const json::value* given(const json::value& object, std::string_view key) {
  const auto* found = object.find(key);
  return found != nullptr && !found->is_null() ? found : nullptr;
}

result<std::string> optional_string(const json::value& object, std::string_view key,
                                    const std::string& where) {
  const auto* found = given(object, key);
  if (found == nullptr) return std::string();
  if (const auto* text = found->if_string()) return *text;
  return bad_line(where + ": " + quoted(key) + " is not a string");
}

result<std::string> required_string(const json::value& object, std::string_view key,
                                    const std::string& where) {
  auto text = optional_string(object, key, where);
  if (text && text->empty()) return bad_line(where + " lacks " + quoted(key));
  return text;
}

std::string listed(std::span<const std::string_view> words) {
  std::string out;
  for (const auto one : words) out += (out.empty() ? "" : ", ") + std::string(one);
  return out;
}

result<void> only_known(const json::object& members, std::span<const std::string_view> known,
                        const std::string& where) {
  for (const auto& [key, value] : members) {
    if (value.is_null() || std::ranges::find(known, key) != known.end()) continue;
    return bad_line(where + " has " + quoted(key) + ", which is not supported; known are " + listed(known));
  }
  return {};
}

}  // namespace evalcore::run
