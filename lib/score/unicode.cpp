#include "score/unicode.hpp"

#include <utf8proc.h>

#include <array>

#include <evalcore/base/ascii.hpp>

namespace evalcore::score {
namespace {

constexpr std::int32_t capital_sigma = 0x3A3;
constexpr std::int32_t capital_i_with_dot = 0x130;

/// The code point at `at` and its width; a byte that is not UTF-8 gives width 0.
std::size_t decode(std::string_view text, std::size_t at, std::int32_t& point) {
  const auto width = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                      static_cast<utf8proc_ssize_t>(text.size() - at), &point);
  return width > 0 ? static_cast<std::size_t>(width) : 0;
}

void append(std::string& out, std::int32_t point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto width = utf8proc_encode_char(point, bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(width));
}

bool cased(std::int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      return false;
  }
}

bool mark(std::int32_t point) {
  const auto category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

/// The characters of ASCII that `text` begins with, in lower case; how many they are.
std::size_t append_ascii(std::string& out, std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && static_cast<unsigned char>(text[count]) < 0x80U) ++count;
  const auto from = out.size();
  out.append(text, 0, count);
  char* const added = out.data() + from;
  for (std::size_t at = 0; at < count; ++at) {
    added[at] = ascii::lower(added[at]);
  }
  return count;
}

/// Whether a letter follows, marks on the letter before left aside.
bool letter_follows(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    std::int32_t point = 0;
    const std::size_t width = decode(text, at, point);
    if (width == 0) return false;
    if (!mark(point)) return cased(point);
    at += width;
  }
  return false;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool after_letter = false;
  for (std::size_t i = 0; i < text.size();) {
    if (const auto run = append_ascii(out, text.substr(i)); run > 0) {
      i += run;
      after_letter = out.back() >= 'a' && out.back() <= 'z';
      continue;
    }
    std::int32_t point = 0;
    const std::size_t width = decode(text, i, point);
    if (width == 0) {
      out += text[i++];
      after_letter = false;
      continue;
    }
    i += width;
    if (point == capital_i_with_dot) {
      out += "i\u0307";
    } else if (point == capital_sigma) {
      out += after_letter && !letter_follows(text, i) ? "ς" : "σ";
    } else {
      append(out, utf8proc_tolower(point));
    }
    if (!mark(point)) after_letter = cased(point);
  }
  return out;
}

}  // namespace evalcore::score
