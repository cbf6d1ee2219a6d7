#include "chat/python_literal.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace evalcore::chat::python {
namespace {

constexpr std::size_t most_digits = 4300;

error refuse(std::string message) {
  return fail(errc::bad_reply, stage::decode, "not a list of calls: " + std::move(message));
}
error bad_number() { return refuse("a malformed number"); }

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

/// Digits of `base` in single underscores: "1_000" -> "1000". Empty when malformed.
std::string plain_digits(std::string_view text, int base) {
  std::string digits;
  bool separated = true;
  for (const char c : text) {
    if (c == '_') {
      if (std::exchange(separated, true)) return {};
    } else {
      if (digit_of(c) >= base) return {};
      digits += c;
      separated = false;
    }
  }
  return separated ? std::string() : digits;
}

/// Decimal digits of an integer in another base, by limbs of nine digits.
std::string to_decimal(std::string_view digits, int base) {
  constexpr std::uint64_t limb = 1'000'000'000;
  std::vector<std::uint32_t> limbs{0};
  for (const char c : digits) {
    std::uint64_t carry = static_cast<std::uint64_t>(digit_of(c));
    for (auto& one : limbs) {
      carry += std::uint64_t{one} * static_cast<std::uint64_t>(base);
      one = static_cast<std::uint32_t>(carry % limb);
      carry /= limb;
    }
    if (carry > 0) limbs.push_back(static_cast<std::uint32_t>(carry));
  }
  std::string text = std::to_string(limbs.back());
  for (auto one = limbs.rbegin() + 1; one != limbs.rend(); ++one) {
    const std::string part = std::to_string(*one);
    text.append(9 - part.size(), '0').append(part);
  }
  return text;
}

result<python_value> integer(std::string_view text) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  }
  if (base != 10) {
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
  }
  std::string digits = plain_digits(text, base);
  if (digits.empty()) return bad_number();
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  if (base == 10 && zeros > 0 && zeros < digits.size()) return bad_number();  // 007
  digits.erase(0, zeros == digits.size() ? zeros - 1 : zeros);

  std::int64_t small = 0;
  const char* end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, small, base).ec == std::errc{}) return python_value(small);
  const std::size_t bits = base == 2 ? 1 : base == 8 ? 3 : 4;
  if (base == 10 ? digits.size() > most_digits : digits.size() * bits > most_digits * 10 / 3) {
    return refuse("an integer is too long");
  }
  return python_value(python_value::big_int{base == 10 ? std::move(digits) : to_decimal(digits, base)});
}

/// What from_chars calls out of range is either infinity or 0, by the place of the first digit.
double beyond_range(std::string_view mantissa, std::string_view exponent) {
  if (mantissa.find_first_of("123456789") == std::string_view::npos) return 0.0;
  const bool negative = exponent.starts_with('-');
  const std::string_view digits = exponent.substr(exponent.find_first_of("0123456789"));
  std::int64_t power = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), power).ec != std::errc{}) {
    power = std::numeric_limits<std::int32_t>::max();
  }
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first = static_cast<std::int64_t>(mantissa.find_first_of("123456789"));
  return point - first + (negative ? -power : power) > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

result<python_value> floating(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view exponent = mark < text.size() ? text.substr(mark + 1) : "0";
  const std::size_t sign = exponent.starts_with('-') || exponent.starts_with('+') ? 1 : 0;
  if (plain_digits(exponent.substr(sign), 10).empty()) return bad_number();
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view part = point < mantissa.size() ? mantissa.substr(point + 1) : "";
  if ((whole.empty() && part.empty()) || (!whole.empty() && plain_digits(whole, 10).empty()) ||
      (!part.empty() && plain_digits(part, 10).empty())) {
    return bad_number();
  }
  std::string plain(text);
  std::erase(plain, '_');
  if (const auto plus = plain.find("e+"); plus != std::string::npos) plain.erase(plus + 1, 1);
  if (const auto plus = plain.find("E+"); plus != std::string::npos) plain.erase(plus + 1, 1);
  double number = 0;
  const auto [end, failure] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (failure == std::errc::result_out_of_range) return python_value(beyond_range(mantissa, exponent));
  if (failure != std::errc{} || end != plain.data() + plain.size()) return bad_number();
  return python_value(number);
}

void append_point(std::string& out, std::int32_t point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto width = utf8proc_encode_char(point, bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(width));
}

/// One escape; `body` starts at the backslash. Returns the bytes taken, 0 when malformed.
std::size_t unescape(std::string& out, std::string_view body) {
  const char kind = body[1];
  switch (kind) {
    case '\n':
      return 2;
    case '\\':
    case '\'':
    case '"':
      out += kind;
      return 2;
    case 'a':
      out += '\a';
      return 2;
    case 'b':
      out += '\b';
      return 2;
    case 'f':
      out += '\f';
      return 2;
    case 'n':
      out += '\n';
      return 2;
    case 'r':
      out += '\r';
      return 2;
    case 't':
      out += '\t';
      return 2;
    case 'v':
      out += '\v';
      return 2;
    case 'N':
      return 0;
    default:
      break;
  }
  std::int32_t point = 0;
  if (kind >= '0' && kind <= '7') {
    std::size_t taken = 1;
    for (; taken < 4 && taken < body.size() && body[taken] >= '0' && body[taken] <= '7'; ++taken) {
      point = point * 8 + (body[taken] - '0');
    }
    append_point(out, point);
    return taken;
  }
  const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits == 0) {  // Python keeps the backslash of an escape that it does not know.
    out += '\\';
    return 1;
  }
  const std::string_view hex = body.substr(2, digits);
  const auto [end, failure] = std::from_chars(hex.data(), hex.data() + hex.size(), point, 16);
  if (failure != std::errc{} || hex.size() != digits || end != hex.data() + digits || hex.starts_with('-'))
    return 0;
  if (!utf8proc_codepoint_valid(point)) return 0;
  append_point(out, point);
  return 2 + digits;
}

}  // namespace

result<python_value> number_value(std::string_view token) {
  const bool radix = token.size() > 1 && token[0] == '0' &&
                     std::string_view("xXoObB").find(token[1]) != std::string_view::npos;
  if (!radix && token.find_first_of(".eE") != std::string_view::npos) return floating(token);
  return integer(token);
}

result<string_literal> string_value(std::string_view token) {
  const std::size_t prefix = token.find_first_of("\"'");
  string_literal out;
  bool raw = false;
  for (const char c : token.substr(0, prefix)) {
    if (c == 'b' || c == 'B' || c == 'f' || c == 'F') return refuse("bytes and f-strings are not read");
    raw = raw || c == 'r' || c == 'R';
    out.marked_unicode = out.marked_unicode || c == 'u';
  }
  token.remove_prefix(prefix);
  const std::size_t quotes = token.size() >= 6 && token[1] == token[0] && token[2] == token[0] ? 3 : 1;
  const std::string_view body = token.substr(quotes, token.size() - 2 * quotes);
  if (raw) {
    out.text = body;
    return out;
  }
  for (std::size_t i = 0; i < body.size();) {
    if (body[i] != '\\') {
      out.text += body[i++];
      continue;
    }
    const std::size_t taken = unescape(out.text, body.substr(i));
    if (taken == 0) return refuse("a malformed escape in a string");
    i += taken;
  }
  return out;
}

}  // namespace evalcore::chat::python
