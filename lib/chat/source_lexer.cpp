#include "chat/source_lexer.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <string>

namespace evalcore::chat::source {
namespace {

error refuse(std::string what) {
  return fail(errc::bad_reply, stage::decode, "not a call: " + std::move(what));
}

bool digit(char c) { return c >= '0' && c <= '9'; }
bool ascii_word(char c) {
  return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/// Longer ones first. ">" always stands alone, as it may end a type.
constexpr auto operators = std::to_array<std::string_view>(
    {"...", "===", "!==", "**=", "<<=", "&&=", "||=", "?\?=", "->", "=>", "++", "--", "&&", "||", "??",
     "?.",  "==",  "!=",  "<=",  "+=",  "-=",  "*=",  "/=",   "%=", "&=", "|=", "^=", "**", "<<", "::"});
constexpr std::string_view single = "+-*/%=<>!~?:;,.&|^()[]{}@";

class lexer {
 public:
  lexer(std::string_view text, call_language in) : text_(text), in_(in) {}

  result<std::vector<token>> run() {
    std::vector<token> out;
    for (;;) {
      if (auto skipped = skip_blanks(); !skipped) return std::move(skipped).error();
      token next{token_kind::end, {}, at_, line_};
      line_ = false;
      if (at_ == text_.size()) {
        out.push_back(next);
        return out;
      }
      const auto length = take(next.kind);
      if (length == 0) return refuse("a character that the language has no use for");
      next.text = text_.substr(at_, length);
      at_ += length;
      out.push_back(next);
    }
  }

 private:
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  result<void> skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
        line_ = line_ || c == '\n';
        ++at_;
      } else if (c == '/' && at(at_ + 1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '/' && at(at_ + 1) == '*') {
        const auto end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return refuse("a comment without its end");
        at_ = end + 2;
      } else {
        break;
      }
    }
    return {};
  }

  /// The bytes of the token here; 0: there is none.
  std::size_t take(token_kind& kind) {
    const char c = text_[at_];
    if (c == '"' || c == '\'' || (c == '`' && in_ == call_language::javascript)) {
      kind = token_kind::string;
      return string_length(c);
    }
    if (digit(c) || (c == '.' && digit(at(at_ + 1)))) {
      kind = token_kind::number;
      return number_length();
    }
    kind = token_kind::word;
    if (const auto length = word_length()) return length;
    kind = token_kind::op;
    for (const auto one : operators) {
      if (text_.substr(at_, one.size()) == one) return one.size();
    }
    return single.find(c) != std::string_view::npos ? 1 : 0;
  }

  [[nodiscard]] std::size_t string_length(char quote) const {
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == quote) return i + 1 - at_;
      if (text_[i] == '\n' && quote != '`') return 0;
      if (text_[i] == '\\') ++i;
    }
    return 0;
  }

  [[nodiscard]] std::size_t number_length() const {
    std::size_t end = at_;
    const bool hex = at(at_) == '0' && (at(at_ + 1) == 'x' || at(at_ + 1) == 'X');
    while (ascii_word(at(end)) || (at(end) == '.' && digit(at(end + 1))) ||
           (at(end) == '.' && end > at_ && dots_ok(end)) ||
           ((at(end) == '+' || at(end) == '-') && !hex && (at(end - 1) == 'e' || at(end - 1) == 'E') &&
            digit(at(end + 1)))) {
      ++end;
    }
    return end - at_;
  }
  /// "5." is a number; "5.x" is not.
  [[nodiscard]] bool dots_ok(std::size_t dot) const {
    return !ascii_word(at(dot + 1)) && at(dot + 1) != '.' &&
           text_.substr(at_, dot - at_).find('.') == std::string_view::npos;
  }

  [[nodiscard]] std::size_t word_length() const {
    std::size_t end = at_;
    while (end < text_.size()) {
      if (ascii_word(text_[end])) {
        ++end;
        continue;
      }
      if (static_cast<unsigned char>(text_[end]) < 0x80U) break;
      std::int32_t point = 0;
      const auto width = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text_.data()) + end,
                                          static_cast<utf8proc_ssize_t>(text_.size() - end), &point);
      if (width <= 0) break;
      const auto category = utf8proc_category(point);
      if (category == UTF8PROC_CATEGORY_CN || category > UTF8PROC_CATEGORY_NL) break;
      end += static_cast<std::size_t>(width);
    }
    return end - at_;
  }

  std::string_view text_;
  call_language in_;
  std::size_t at_ = 0;
  bool line_ = false;
};

}  // namespace

result<std::vector<token>> tokenize(std::string_view text, call_language in) { return lexer(text, in).run(); }

}  // namespace evalcore::chat::source
