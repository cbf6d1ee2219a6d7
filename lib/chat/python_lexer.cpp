#include "chat/python_lexer.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace evalcore::chat::python {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

error refuse(std::string message) {
  return fail(errc::bad_reply, stage::decode, "not a list of calls: " + std::move(message));
}

/// Unicode's XID_Start and XID_Continue by general category, with the few code points that the standard
/// adds by name.
bool identifier_point(std::int32_t point, bool first) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
      return true;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return !first;
    default:
      break;
  }
  if (point == 0x2118 || point == 0x212E) return true;
  return !first &&
         (point == 0xB7 || point == 0x387 || point == 0x19DA || (point >= 0x1369 && point <= 0x1371));
}

/// Longest first, so that the first match is the token.
constexpr std::array<std::string_view, 34> operators{
    "...", "**", "//", "<<", ">>", "==", "!=", "<=", ">=", ":=", "->", "(", ")", "[", "]", "{", "}",
    ",",   ":",  ".",  ";",  "=",  "<",  ">",  "+",  "-",  "*",  "/",  "%", "@", "&", "|", "^", "~"};

bool string_prefix(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) { return static_cast<char>(c | 0x20); });
  static constexpr std::array<std::string_view, 8> known{"r", "u", "b", "f", "br", "rb", "fr", "rf"};
  return std::ranges::find(known, lower) != known.end();
}

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) {}

  result<std::vector<token>> run() {
    while (at_ < source_.size()) {
      if (skip_blank()) continue;
      if (auto done = next(); !done) return std::move(done).error();
    }
    put(token_kind::end, 0);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void put(token_kind kind, std::size_t length) {
    tokens_.push_back({kind, source_.substr(at_, length)});
    at_ += length;
  }

  bool skip_blank() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\f' || (c == '\n' && open_ > 0)) {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else if (c == '\\' && peek(1) == '\n') {
      at_ += 2;
    } else {
      return false;
    }
    return true;
  }

  result<void> next() {
    const char c = peek();
    if (c == '\n') {
      put(token_kind::newline, 1);
      return {};
    }
    if (digit(c) || (c == '.' && digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return string(0);
    if (letter(c) || static_cast<unsigned char>(c) >= 0x80) return name();
    return op();
  }

  result<void> op() {
    const auto rest = source_.substr(at_);
    const auto* found = std::ranges::find_if(operators, [&](auto one) { return rest.starts_with(one); });
    if (found == operators.end()) return refuse("a character that Python does not know");
    if (*found == "(" || *found == "[" || *found == "{") {
      if (++open_ > bracket_depth) return refuse("brackets are nested too deep");
    } else if ((*found == ")" || *found == "]" || *found == "}") && open_-- == 0) {
      return refuse("a bracket is closed that was never opened");
    }
    put(token_kind::op, found->size());
    return {};
  }

  result<void> name() {
    std::size_t length = 0;
    while (at_ + length < source_.size()) {
      const char c = peek(length);
      if (letter(c) || (digit(c) && length > 0)) {
        ++length;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x80) break;
      const auto rest = source_.substr(at_ + length);
      std::int32_t point = 0;
      const auto width = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                          static_cast<utf8proc_ssize_t>(rest.size()), &point);
      if (width <= 0 || !identifier_point(point, length == 0)) {
        return refuse("a character that Python does not know");
      }
      length += static_cast<std::size_t>(width);
    }
    const char after = peek(length);
    if ((after == '"' || after == '\'') && string_prefix(source_.substr(at_, length))) return string(length);
    put(token_kind::name, length);
    return {};
  }

  /// Takes the whole run of what may stand in a number; python_literal decides whether it is one.
  result<void> number() {
    std::size_t length = 0;
    bool whole = true;  // No point and no exponent yet.
    const bool hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    for (;; ++length) {
      const char c = peek(length);
      const bool exponent = !hexadecimal && (c == 'e' || c == 'E');
      const bool sign =
          (c == '+' || c == '-') && !hexadecimal && length > 0 && (peek(length - 1) | 0x20) == 'e';
      if (!digit(c) && !letter(c) && !(c == '.' && whole) && !sign) break;
      whole = whole && c != '.' && !exponent;
    }
    if (static_cast<unsigned char>(peek(length)) >= 0x80) return refuse("a malformed number");
    put(token_kind::number, length);
    return {};
  }

  result<void> string(std::size_t prefix) {
    const char quote = peek(prefix);
    const bool triple = peek(prefix + 1) == quote && peek(prefix + 2) == quote;
    const std::size_t width = triple ? 3 : 1;
    const std::string_view close = source_.substr(at_ + prefix, width);
    std::size_t i = at_ + prefix + width;
    while (i < source_.size()) {
      if (source_[i] == '\\') {
        i += 2;
      } else if (source_[i] == '\n' && !triple) {
        break;
      } else if (source_[i] == quote && source_.substr(i, width) == close) {
        put(token_kind::string, i + width - at_);
        return {};
      } else {
        ++i;
      }
    }
    return refuse("a string is not closed");
  }

  std::string_view source_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
  std::size_t open_ = 0;
};

}  // namespace

std::string with_line_feeds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

result<std::vector<token>> tokenize(std::string_view source) {
  if (source.find('\0') != std::string_view::npos) return refuse("a null character");
  for (std::size_t i = 0; i < source.size();) {
    std::int32_t point = 0;
    const auto width = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(source.data()) + i,
                                        static_cast<utf8proc_ssize_t>(source.size() - i), &point);
    if (width <= 0) return refuse("bytes that are not UTF-8");
    i += static_cast<std::size_t>(width);
  }
  return lexer(source).run();
}

}  // namespace evalcore::chat::python
