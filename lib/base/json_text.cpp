#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include <evalcore/base/json.hpp>
#include <evalcore/base/utf8.hpp>

namespace evalcore::json {
namespace {

void append_escape(std::string& out, std::uint32_t unit) {
  static constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[(unit >> shift) & 0xFU];
}

/// What stands as it is, by byte.
constexpr auto plain_characters = [] {
  std::array<bool, 256> all{};
  for (unsigned char c = ' '; c < 0x7F; ++c) all[c] = c != '"' && c != '\\';
  return all;
}();

/// Of this many characters, whether all stand as they are. Vectors of GCC and Clang: what a harness sends is
/// mostly prompts, and a byte at a time they cost more than all the rest of a request's text.
constexpr std::size_t at_once = 32;
bool all_are_plain(const char* from) {
  constexpr std::size_t width = 16;
  using characters = unsigned char __attribute__((vector_size(width)));
  using words = std::uint64_t __attribute__((vector_size(width)));
  const auto special = [](const char* of) {
    characters all;
    std::memcpy(&all, of, sizeof all);
    return (all - ' ' >= 0x7F - ' ') | (all == '"') | (all == '\\');
  };
  const auto any = special(from) | special(from + width);
  words found;
  std::memcpy(&found, &any, sizeof found);
  return (found[0] | found[1]) == 0;
}

/// How much of the text stands as it is.
std::size_t length_of_plain(std::string_view text) {
  std::size_t length = 0;
  while (text.size() - length >= at_once && all_are_plain(text.data() + length)) length += at_once;
  while (length < text.size() && plain_characters[static_cast<unsigned char>(text[length])]) ++length;
  return length;
}

/// `before` and `after` stand beside the quotes; 0: nothing does.
void append_quoted_as(std::string& out, std::string_view text, bool ascii, char before = 0, char after = 0) {
  const std::size_t plain_at_first = length_of_plain(text);
  if (plain_at_first == text.size()) {
    // As nearly all are. To grow a string costs more than to write a key: once for the whole of it.
    const std::size_t length = text.size() + 2 + (before != 0 ? 1 : 0) + (after != 0 ? 1 : 0);
    out.append(length, '"');
    char* at = out.data() + out.size() - length;
    if (before != 0) *at++ = before;
    text.copy(at + 1, text.size());
    if (after != 0) at[text.size() + 2] = after;
    return;
  }
  if (before != 0) out += before;
  out += '"';
  out += text.substr(0, plain_at_first);
  for (std::size_t i = plain_at_first; i < text.size();) {
    if (const std::size_t plain = length_of_plain(text.substr(i)); plain > 0) {
      out += text.substr(i, plain);
      i += plain;
      continue;
    }
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      ++i;
      switch (c) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        default:
          if (byte < 0x20 || (ascii && byte == 0x7F)) {
            append_escape(out, byte);
          } else {
            out += c;
          }
      }
      continue;
    }
    const auto [length, valid] = first_utf8(text.substr(i));
    const std::string_view piece = valid ? text.substr(i, length) : "\xEF\xBF\xBD";
    i += length;
    if (!ascii) {
      out += piece;
      continue;
    }
    const auto lead = static_cast<unsigned char>(piece[0]);
    std::uint32_t point = piece.size() == 2 ? lead & 0x1FU : piece.size() == 3 ? lead & 0x0FU : lead & 0x07U;
    for (const char next : piece.substr(1))
      point = (point << 6U) | (static_cast<unsigned char>(next) & 0x3FU);
    if (point < 0x10000) {
      append_escape(out, point);
    } else {
      point -= 0x10000;
      append_escape(out, 0xD800 + (point >> 10U));
      append_escape(out, 0xDC00 + (point & 0x3FFU));
    }
  }
  out += '"';
  if (after != 0) out += after;
}

struct style {
  std::string_view comma;
  std::string_view colon;
  bool ascii;
};

void append(std::string& out, const value& root, const style& how) {  // NOLINT(misc-no-recursion)
  if (const auto* flag = root.if_bool()) {
    out += *flag ? "true" : "false";
  } else if (const auto* number = root.if_int()) {
    out += std::to_string(*number);
  } else if (const auto* big = root.if_uint()) {
    out += std::to_string(*big);
  } else if (const auto* real = root.if_double()) {
    append_number(out, *real);
  } else if (const auto* text = root.if_string()) {
    append_quoted_as(out, *text, how.ascii);
  } else if (const auto* elements = root.if_array()) {
    out += '[';
    std::string_view between;
    for (const auto& one : *elements) {
      out += between;
      append(out, one, how);
      between = how.comma;
    }
    out += ']';
  } else if (const auto* members = root.if_object()) {
    out += '{';
    std::string_view between;
    for (const auto& [key, one] : *members) {
      out += between;
      append_quoted_as(out, key, how.ascii);
      out += how.colon;
      append(out, one, how);
      between = how.comma;
    }
    out += '}';
  } else {
    out += "null";
  }
}

}  // namespace

std::string to_text(const value& root) {
  std::string out;
  append(out, root, {",", ":", false});
  return out;
}

std::string to_python_text(const value& root) {
  std::string out;
  append(out, root, {", ", ": ", true});
  return out;
}

void append_quoted(std::string& out, std::string_view text) { append_quoted_as(out, text, false); }

void append_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const auto shortest = [&](std::array<char, 32>& buffer, std::chars_format form) {
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, form).ptr;
    return std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  };
  std::array<char, 32> scientific{};
  const auto with_exponent = shortest(scientific, std::chars_format::scientific);
  const auto digits = with_exponent.substr(with_exponent.find('e') + 1);
  int exponent = 0;
  std::from_chars(digits.data() + (digits.front() == '+' ? 1 : 0), digits.data() + digits.size(), exponent);
  if (exponent < -4 || exponent >= 16) {  // Where Python changes to the exponent form.
    out += with_exponent;
    return;
  }
  std::array<char, 32> fixed{};
  const auto plain = shortest(fixed, std::chars_format::fixed);
  out += plain;
  if (plain.find('.') == std::string_view::npos) out += ".0";
}

void writer::separate() {
  if (!fresh_) out_ += ',';
  fresh_ = false;
}

writer& writer::begin_object() {
  separate();
  out_ += '{';
  fresh_ = true;
  return *this;
}
writer& writer::end_object() {
  out_ += '}';
  fresh_ = false;
  return *this;
}
writer& writer::begin_array() {
  separate();
  out_ += '[';
  fresh_ = true;
  return *this;
}
writer& writer::end_array() {
  out_ += ']';
  fresh_ = false;
  return *this;
}
writer& writer::key(std::string_view name) {
  append_quoted_as(out_, name, false, fresh_ ? char{0} : ',', ':');
  fresh_ = true;
  return *this;
}
writer& writer::string(std::string_view text) {
  append_quoted_as(out_, text, false, fresh_ ? char{0} : ',');
  fresh_ = false;
  return *this;
}
writer& writer::number(std::int64_t n) {
  separate();
  out_ += std::to_string(n);
  return *this;
}
writer& writer::number(std::uint64_t n) {
  separate();
  out_ += std::to_string(n);
  return *this;
}
writer& writer::number(double n) {
  separate();
  append_number(out_, n);
  return *this;
}
writer& writer::boolean(bool flag) {
  separate();
  out_ += flag ? "true" : "false";
  return *this;
}
writer& writer::null() {
  separate();
  out_ += "null";
  return *this;
}
writer& writer::raw(std::string_view json_text) {
  separate();
  out_ += json_text;
  return *this;
}

}  // namespace evalcore::json
