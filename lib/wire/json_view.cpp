#include "wire/json_view.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include <evalcore/base/limits.hpp>

#include "base/utf8.hpp"

namespace evalcore::wire {
namespace {

/// Keys of objects up to this size are compared one by one, those of larger ones sorted.
constexpr std::size_t few_members = 16;

bool repeats_a_key(const simdjson::dom::object& members) {
  if (members.size() > few_members) {
    std::vector<std::string_view> keys;
    for (const auto& [key, one] : members) keys.push_back(key);
    std::ranges::sort(keys);
    return std::ranges::adjacent_find(keys) != keys.end();
  }
  std::array<std::string_view, few_members> keys;
  auto* end = keys.begin();
  for (auto one = members.begin(); one != members.end(); ++one) {
    if (std::find(keys.begin(), end, one.key()) != end) return true;
    *end++ = one.key();
  }
  return false;
}

// The parser's depth limit bounds the recursion.
bool repeats_a_key(const element& from) {  // NOLINT(misc-no-recursion)
  if (from.is_object()) {
    const auto members = from.get_object().value_unsafe();
    if (repeats_a_key(members)) return true;
    for (auto one = members.begin(); one != members.end(); ++one) {
      if (repeats_a_key(one.value())) return true;
    }
  } else if (from.is_array()) {
    const auto elements = from.get_array().value_unsafe();
    for (const element one : elements) {
      if (repeats_a_key(one)) return true;
    }
  }
  return false;
}

/// The UTF-16 unit that `text` begins to write, as \uXXXX; nullopt if it does not.
std::optional<std::uint32_t> escaped_unit(std::string_view text) {
  constexpr std::size_t length = 6;
  if (text.size() < length || !text.starts_with("\\u")) return std::nullopt;
  std::uint32_t unit = 0;
  const auto* end = text.data() + length;
  const auto [stop, wrong] = std::from_chars(text.data() + 2, end, unit, 16);
  return wrong == std::errc() && stop == end ? std::optional(unit) : std::nullopt;
}

/// The JSON text with \ufffd for each escaped half of a surrogate pair that lacks the other half.
std::string replace_lone_surrogates(std::string_view text) {
  constexpr std::size_t length = 6;
  const auto half = [](std::optional<std::uint32_t> unit) { return unit ? *unit >> 10U : 0; };
  constexpr std::uint32_t high = 0xD800 >> 10U;
  constexpr std::uint32_t low = 0xDC00 >> 10U;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t taken = std::min(text.find('\\'), text.size());
    out += text.substr(0, taken);
    text.remove_prefix(taken);
    const auto which = half(escaped_unit(text));
    if (which == high && half(escaped_unit(text.substr(length))) == low) {
      taken = 2 * length;
      out += text.substr(0, taken);
    } else if (which == high || which == low) {
      taken = length;
      out += "\\ufffd";
    } else {
      taken = std::min<std::size_t>(text.size(), 2);
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

simdjson::error_code json_reader::parse(std::string_view text, element& root) {
  if (text.empty()) return simdjson::EMPTY;  // simdjson copies from a null pointer then.
  if (text.size() > parser_.capacity()) {
    if (const auto failure = parser_.allocate(text.size(), limits::json_depth)) return failure;
  }
  return parser_.parse(text.data(), text.size()).get(root);
}

std::optional<element> json_reader::read(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  element root;
  chat::json_damage found;
  std::string mended;
  auto failure = parse(text, root);
  // simdjson looks at the characters of the whole text first, at the escapes later.
  if (failure == simdjson::UTF8_ERROR) {
    found.invalid_utf8 = true;
    mended = replace_invalid_utf8(text);
    failure = parse(mended, root);
  }
  if (failure == simdjson::STRING_ERROR) {
    found.lone_surrogate = true;
    mended = replace_lone_surrogates(found.invalid_utf8 ? mended : text);
    failure = parse(mended, root);
  }
  if (failure != simdjson::SUCCESS) return std::nullopt;
  damage_.invalid_utf8 |= found.invalid_utf8;
  damage_.lone_surrogate |= found.lone_surrogate;
  damage_.duplicate_key = damage_.duplicate_key || repeats_a_key(root);
  return root;
}

}  // namespace evalcore::wire
