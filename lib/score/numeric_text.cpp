#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "score/numeric.hpp"

namespace evalcore::score {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
/// Of ASCII only: "答案是5" and "≈5" hold a number.
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class scanner {
 public:
  explicit scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  [[nodiscard]] std::size_t digits(std::size_t i) const {
    std::size_t end = i;
    while (digit(at(end))) ++end;
    return end;
  }

  /// The end of the number whose digits (or point) start at `i`.
  [[nodiscard]] std::size_t magnitude(std::size_t i) const {
    std::size_t end = digits(i);
    if (end - i >= 1 && end - i <= 3) {
      while (at(end) == ',' && digits(end + 1) == end + 4) end += 4;
    }
    if (at(end) == '.' && digit(at(end + 1))) end = digits(end + 1);
    if (at(end) == 'e' || at(end) == 'E') {
      const std::size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
      const std::size_t stop = digits(end + 1 + sign);
      if (stop > end + 1 + sign && !letter(at(stop))) end = stop;
    }
    return end;
  }

  /// The bytes that `one` of the listed texts takes just before `i`, 0 when none stands there.
  [[nodiscard]] std::size_t before(std::size_t i, std::initializer_list<std::string_view> list) const {
    for (const auto one : list) {
      if (i >= one.size() && text_.substr(i - one.size(), one.size()) == one) return one.size();
    }
    return 0;
  }

 private:
  std::string_view text_;
};

std::optional<double> to_number(std::string_view magnitude) {
  std::string plain;
  for (std::size_t i = 0; i < magnitude.size(); ++i) {
    const bool plus = magnitude[i] == '+';
    if (magnitude[i] != ',' && !plus) plain += magnitude[i];
  }
  double value = 0;
  const auto [end, failure] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (failure != std::errc{} || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<number_in_text> last_number(std::string_view text) {
  const scanner scan(text);
  std::optional<number_in_text> found;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts = digit(text[i]) || (text[i] == '.' && digit(scan.at(i + 1)));
    if (!starts) {
      ++i;
      continue;
    }
    const std::size_t end = scan.magnitude(i);
    std::size_t begin = i - scan.before(i, {"$", "€", "£", "¥"});
    const std::size_t minus = scan.before(begin, {"-", "\u2212"});
    const std::size_t sign = minus > 0 ? minus : scan.before(begin, {"+"});
    const char front = begin > sign ? text[begin - sign - 1] : ' ';
    const bool signed_here = sign > 0 && !digit(front) && !letter(front) && front != ')' && front != ']';
    const bool in_word = begin == i && i > 0 && letter(text[i - 1]) && sign == 0;
    if (signed_here) begin -= sign;
    if (const auto value = in_word ? std::nullopt : to_number(text.substr(i, end - i))) {
      found = number_in_text{signed_here && minus > 0 ? -*value : *value, text.substr(begin, end - begin)};
    }
    i = end;
  }
  return found;
}

}  // namespace evalcore::score
