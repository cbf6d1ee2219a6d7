#include <utf8proc.h>

#include <cmath>

#include <evalcore/chat/call_text.hpp>

namespace evalcore::chat {
namespace {

void append_double(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
    return;
  }
  json::append_number(out, number);
}

bool printable(std::int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return point == ' ';
    default:
      return true;
  }
}

void append_hex(std::string& out, std::uint32_t number) {
  static constexpr std::string_view digits = "0123456789abcdef";
  const int width = number < 0x100 ? 2 : number < 0x10000 ? 4 : 8;
  out += width == 2 ? "\\x" : width == 4 ? "\\u" : "\\U";
  for (int shift = 4 * (width - 1); shift >= 0; shift -= 4) out += digits[(number >> shift) & 0xFU];
}

void append_string(std::string& out, std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out += quote;
  while (!text.empty()) {
    std::int32_t point = 0;
    const auto width = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &point);
    const std::size_t taken = width > 0 ? static_cast<std::size_t>(width) : 1;
    if (width <= 0) {
      append_hex(out, static_cast<unsigned char>(text[0]));
    } else if (point == '\n' || point == '\r' || point == '\t') {
      out += point == '\n' ? "\\n" : point == '\r' ? "\\r" : "\\t";
    } else if (point == '\\' || point == quote) {
      out += '\\';
      out += static_cast<char>(point);
    } else if (printable(point)) {
      out += text.substr(0, taken);
    } else {
      append_hex(out, static_cast<std::uint32_t>(point));
    }
    text.remove_prefix(taken);
  }
  out += quote;
}

void append(std::string& out, const python_value& value);

void append_elements(std::string& out,
                     const std::vector<python_value>& elements) {  // NOLINT(misc-no-recursion)
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out += ", ";
    append(out, elements[i]);
  }
}

void append(std::string& out, const python_value& value) {  // NOLINT(misc-no-recursion)
  if (const auto* flag = std::get_if<bool>(&value.state)) {
    out += *flag ? "True" : "False";
  } else if (const auto* number = std::get_if<std::int64_t>(&value.state)) {
    out += std::to_string(*number);
  } else if (const auto* big = std::get_if<python_value::big_int>(&value.state)) {
    out += big->digits;
  } else if (const auto* real = std::get_if<double>(&value.state)) {
    append_double(out, *real);
  } else if (const auto* text = std::get_if<std::string>(&value.state)) {
    append_string(out, *text);
  } else if (const auto* list = std::get_if<python_value::list>(&value.state)) {
    out += '[';
    append_elements(out, list->elements);
    out += ']';
  } else if (const auto* tuple = std::get_if<python_value::tuple>(&value.state)) {
    out += '(';
    append_elements(out, tuple->elements);
    out += tuple->elements.size() == 1 ? ",)" : ")";
  } else if (const auto* dict = std::get_if<python_value::dict>(&value.state)) {
    out += '{';
    for (std::size_t i = 0; i < dict->items.size(); ++i) {
      if (i > 0) out += ", ";
      append(out, dict->items[i].first);
      out += ": ";
      append(out, dict->items[i].second);
    }
    out += '}';
  } else {
    out += "None";
  }
}

}  // namespace

std::string repr(const python_value& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string repr(const python_call& call) {
  std::string out = call.name + "(";
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) out += ", ";
    out += call.arguments[i].first + "=";
    append(out, call.arguments[i].second);
  }
  return out + ")";
}

}  // namespace evalcore::chat
