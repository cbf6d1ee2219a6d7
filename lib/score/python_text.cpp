#include "score/python_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include <evalcore/base/ascii.hpp>

namespace evalcore::score {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Without the underscores that may stand between two digits; absent where one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || !digit(text[i - 1]) || !digit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

/// The bytes of the white space that stands at `at`; 0: none does.
std::size_t space_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t further) {
    return at + further < text.size() ? static_cast<unsigned char>(text[at + further]) : 0U;
  };
  const auto first = byte(0);
  if (first < 0x80)
    return first == ' ' || (first >= 0x09 && first <= 0x0D) || (first >= 0x1C && first <= 0x1F) ? 1 : 0;
  const auto second = byte(1);
  const auto third = byte(2);
  switch (first) {
    case 0xC2:  // U+0085, U+00A0
      return second == 0x85 || second == 0xA0 ? 2 : 0;
    case 0xE1:  // U+1680
      return second == 0x9A && third == 0x80 ? 3 : 0;
    case 0xE2:  // U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F
      if (second == 0x81) return third == 0x9F ? 3 : 0;
      return second == 0x80 &&
                     ((third >= 0x80 && third <= 0x8A) || third == 0xA8 || third == 0xA9 || third == 0xAF)
                 ? 3
                 : 0;
    case 0xE3:  // U+3000
      return second == 0x80 && third == 0x80 ? 3 : 0;
    default:
      return 0;
  }
}

}  // namespace

std::vector<std::string_view> python_words(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto width = space_at(text, at);
    if (width == 0) {
      ++at;
      continue;
    }
    if (at > begin) out.push_back(text.substr(begin, at - begin));
    begin = at += width;
  }
  if (begin < text.size()) out.push_back(text.substr(begin));
  return out;
}

std::string_view python_strip(std::string_view text) noexcept {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> python_split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + separator.size());
  }
}

std::string_view without_ends(std::string_view text) noexcept {
  if (text.empty()) return text;
  std::size_t begin = 1;
  while (begin < text.size() && continues(text[begin])) ++begin;
  std::size_t end = text.size() - 1;
  while (end > 0 && continues(text[end])) --end;
  return end > begin ? text.substr(begin, end - begin) : std::string_view();
}

std::optional<chat::python_value> python_int(std::string_view text) {
  text = python_strip(text);
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  auto digits = without_underscores(text);
  if (!digits || digits->empty() || !std::ranges::all_of(*digits, digit)) return std::nullopt;
  digits->erase(0, std::min(digits->find_first_not_of('0'), digits->size() - 1));
  const std::string number = (minus && *digits != "0" ? "-" : "") + *digits;
  std::int64_t small = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), small).ec == std::errc{})
    return chat::python_value(small);
  return chat::python_value(chat::python_value::big_int{number});
}

std::optional<double> python_float(std::string_view text) {
  text = python_strip(text);
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  const double sign = minus ? -1 : 1;
  if (ascii::equal_without_case(text, "inf") || ascii::equal_without_case(text, "infinity"))
    return sign * std::numeric_limits<double>::infinity();
  if (ascii::equal_without_case(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  const auto plain = without_underscores(text);
  if (!plain || plain->empty() || !(digit(plain->front()) || plain->front() == '.')) return std::nullopt;
  double value = 0;
  const char* end = plain->data() + plain->size();
  const auto [stop, failure] = std::from_chars(plain->data(), end, value);
  if (stop != end || failure == std::errc::invalid_argument) return std::nullopt;
  if (failure == std::errc::result_out_of_range) {
    const bool tiny = plain->find("e-") != std::string::npos || plain->find("E-") != std::string::npos;
    value = tiny ? 0 : std::numeric_limits<double>::infinity();
  }
  return sign * value;
}

}  // namespace evalcore::score
