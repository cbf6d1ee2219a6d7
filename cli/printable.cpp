#include "printable.hpp"

#include <utf8proc.h>

#include <cstdint>
#include <cstdio>

namespace evalcore::cli {
namespace {

bool hidden(std::int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

void append_escape(std::string& out, std::int32_t point) {
  char text[16];
  std::snprintf(text, sizeof text, point < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(point));
  out += text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::int32_t point = 0;
    const auto width = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &point);
    const std::size_t taken = width > 0 ? static_cast<std::size_t>(width) : 1;
    if (width <= 0) {
      append_escape(out, static_cast<unsigned char>(text[0]));
    } else if (hidden(point)) {
      append_escape(out, point);
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace evalcore::cli
