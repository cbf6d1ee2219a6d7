#include "run/foundation_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace evalcore::run {
namespace {

void new_line(std::string& out, std::size_t level) { out += '\n' + std::string(2 * level, ' '); }

void append(std::string& out, const json::value& of, std::size_t level);

void append_object(std::string& out, const json::object& of,  // NOLINT(misc-no-recursion)
                   std::size_t level) {
  std::vector<const json::object::value_type*> members;
  for (const auto& one : of) members.push_back(&one);
  std::ranges::sort(members, {}, [](const auto* one) -> const std::string& { return one->first; });
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += ',';
    new_line(out, level + 1);
    append_as_foundation(out, members[i]->first);
    out += " : ";
    append(out, members[i]->second, level + 1);
  }
  if (members.empty()) out += '\n';
  new_line(out, level);
  out += '}';
}

void append_array(std::string& out, const json::array& of, std::size_t level) {  // NOLINT(misc-no-recursion)
  out += '[';
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (i > 0) out += ',';
    new_line(out, level + 1);
    append(out, of[i], level + 1);
  }
  if (of.empty()) out += '\n';
  new_line(out, level);
  out += ']';
}

void append(std::string& out, const json::value& of, std::size_t level) {  // NOLINT(misc-no-recursion)
  if (const auto* members = of.if_object()) {
    append_object(out, *members, level);
  } else if (const auto* elements = of.if_array()) {
    append_array(out, *elements, level);
  } else if (const auto* text = of.if_string()) {
    append_as_foundation(out, *text);
  } else if (const auto* number = of.if_double()) {
    append_as_foundation(out, *number);
  } else {
    out += json::to_text(of);
  }
}

}  // namespace

void append_as_foundation(std::string& out, double number) {
  if (!std::isfinite(number)) throw std::invalid_argument("a row holds finite numbers only");
  constexpr double largest_plain = 9007199254740992.0;
  const double size = std::fabs(number);
  const bool plain = size == 0 || (size >= 1e-4 && size <= largest_plain);
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  out.append(text.data(), end);
}

void append_as_foundation(std::string& out, const std::string& text) {
  std::string quoted;
  json::append_quoted(quoted, text);
  for (const char c : quoted) {
    if (c == '/') out += '\\';
    out += c;
  }
}

std::string to_foundation_text(const json::value& root) {
  std::string out;
  append(out, root, 0);
  return out;
}

}  // namespace evalcore::run
