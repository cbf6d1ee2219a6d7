#include "score/letter_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <evalcore/base/ascii.hpp>

#include "score/pattern.hpp"
#include "score/text.hpp"

namespace evalcore::score {
namespace {

bool lower_case(char c) { return c >= 'a' && c <= 'z'; }
bool ascii_word(char c) {
  return (c >= '0' && c <= '9') || lower_case(c) || (c >= 'A' && c <= 'Z') || c == '_';
}
char upper(char c) { return lower_case(c) ? static_cast<char>(c - 'a' + 'A') : c; }

/// Between a word for "answer" and the letter, and around a letter.
constexpr auto around = std::to_array<std::string_view>(
    {" ",  "\t", "\r", "\n", "*",  "_",  "`",  ":", "=",       "(",      "[",        "{",        "<",
     "\"", "'",  "$",  "#",  "：", "（", "【", "“", "\\boxed", "\\text", "\\mathrm", "\\mathbf", "\\("});
constexpr auto behind = std::to_array<std::string_view>(
    {" ", "\t", "\r", "\n", "*", "_", "`", ")", "]", "}", ">", "\"", "'", "$", "）", "】", "”"});
constexpr auto fillers =
    std::to_array<std::string_view>({"is", "are", "option", "options", "choice", "choices", "letter", "ist",
                                     "lautet", "es", "est", "è", "é"});
constexpr auto joints = std::to_array<std::string_view>({",", ";", "&", "/", "+", "，", "、", "；"});
constexpr auto joining_words = std::to_array<std::string_view>({"and", "or", "und", "y", "et", "e"});

/// Reads from a place in a text.
class reader {
 public:
  reader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  template <std::size_t count>
  bool skip_one(const std::array<std::string_view, count>& pieces) {
    for (const auto piece : pieces) {
      if (text_.substr(at_, piece.size()) != piece) continue;
      at_ += piece.size();
      return true;
    }
    return false;
  }
  template <std::size_t count>
  bool skip_word(const std::array<std::string_view, count>& words) {
    for (const auto word : words) {
      if (at_ + word.size() > text_.size() || inside_word(at_ + word.size())) continue;
      if (!ascii::equal_without_case(text_.substr(at_, word.size()), word)) continue;
      at_ += word.size();
      return true;
    }
    return false;
  }
  void skip_to_letter() {
    while (skip_one(around) || skip_word(fillers)) {
    }
  }

  /// One of the letters, alone; `listed`: behind another one.
  std::optional<char> letter(std::string_view letters, bool listed) {
    if (at_ >= text_.size()) return std::nullopt;
    const char c = text_[at_];
    if (letters.find(upper(c)) == std::string_view::npos || inside_word(at_ + 1)) return std::nullopt;
    if (lower_case(c) && !ends_here(at_ + 1)) return std::nullopt;
    if (begins_sentence(c, at_ + 1, listed)) return std::nullopt;
    ++at_;
    return upper(c);
  }

  /// To what may be another letter.
  bool skip_joint() {
    while (skip_one(behind)) {
    }
    bool joined = false;
    while (skip_one(joints) || skip_word(joining_words)) {
      joined = true;
      while (skip_one(around)) {
      }
    }
    return joined;
  }

  [[nodiscard]] bool inside_word(std::size_t at) const {
    if (at >= text_.size()) return false;
    const char c = text_[at];
    if (c != '_' && ascii_word(c)) return true;
    if (c == '\'' || text_.substr(at, 3) == "’")
      return at + 1 < text_.size() && lower_case(text_[at + (c == '\'' ? 1 : 3)]);
    if ((static_cast<unsigned char>(c) & 0x80U) == 0) return false;
    const auto punctuation =
        std::to_array<std::string_view>({"，", "、", "；", "。", "）", "】", "：", "”", "“", "…", "–", "—"});
    return std::ranges::none_of(punctuation, [&](auto one) { return text_.substr(at, one.size()) == one; });
  }

 private:
  [[nodiscard]] bool ends_here(std::size_t at) const {
    return at >= text_.size() ||
           std::string_view(".,;:)]}*_\n\r\"'`$").find(text_[at]) != std::string_view::npos ||
           (static_cast<unsigned char>(text_[at]) & 0x80U) != 0;
  }
  /// "I think", and behind a comma "A wheel".
  [[nodiscard]] bool begins_sentence(char c, std::size_t at, bool listed) const {
    if (c != 'I' && !(c == 'A' && listed)) return false;
    if (at + 1 >= text_.size() || text_[at] != ' ' || !lower_case(text_[at + 1])) return false;
    reader next(text_, at + 1);
    return !next.skip_word(joining_words);
  }

  std::string_view text_;
  std::size_t at_;
};

std::optional<std::set<char>> behind_answer(std::string_view text, std::size_t at, std::string_view letters) {
  reader read(text, at);
  read.skip_to_letter();
  std::set<char> out;
  auto one = read.letter(letters, false);
  while (one) {
    out.insert(*one);
    if (!read.skip_joint()) break;
    one = read.letter(letters, true);
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

std::optional<char> last_alone(std::string_view text, std::string_view letters) {
  for (std::size_t at = text.size(); at-- > 0;) {
    if (lower_case(text[at]) || letters.find(text[at]) == std::string_view::npos) continue;
    if (at > 0 && (ascii_word(text[at - 1]) || text[at - 1] == '\'')) continue;
    if (auto one = reader(text, at).letter(letters, true)) return one;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::set<char>> chosen_letters(std::string_view text, std::string_view letters) {
  static const pattern word = *pattern::compile(
      R"((?i)\b(?:answers?|antwort|respuesta|risposta|resposta)\b|réponse|ответ|答案|答え)");
  auto whole = trimmed(text);
  while (!whole.empty() && std::string_view("*_`(\"'.)").find(whole.front()) != std::string_view::npos)
    whole.remove_prefix(1);
  while (!whole.empty() && std::string_view("*_`(\"'.)").find(whole.back()) != std::string_view::npos)
    whole.remove_suffix(1);
  if (whole.size() == 1 && letters.find(upper(whole[0])) != std::string_view::npos)
    return std::set{upper(whole[0])};
  if (const auto found = word.find_all(text)) {
    for (auto one = found->rbegin(); one != found->rend(); ++one) {
      const auto end = static_cast<std::size_t>((*one)[0]->data() - text.data()) + (*one)[0]->size();
      if (auto letter = behind_answer(text, end, letters)) return letter;
    }
  }
  if (const auto one = last_alone(text, letters)) return std::set{*one};
  return std::nullopt;
}

}  // namespace evalcore::score
