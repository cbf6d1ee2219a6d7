#include "score/math_text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "score/numeric.hpp"
#include "score/python_text.hpp"
#include "score/text.hpp"

namespace evalcore::score {
namespace {

constexpr int most_depth = 16;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t begin = 0;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, begin)) {
    out.append(text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  out.append(text, begin);
  text = std::move(out);
}

/// The bytes of the first character.
std::size_t first_width(std::string_view text) {
  std::size_t width = 1;
  while (width < text.size() && (static_cast<unsigned char>(text[width]) & 0xC0U) == 0x80U) ++width;
  return width;
}

/// \sqrt3 becomes \sqrt{3}; absent where nothing follows a root.
std::optional<std::string> with_braces_at_roots(const std::string& text) {
  const auto pieces = python_split(text, "\\sqrt");
  std::string out(pieces.front());
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto piece = pieces[i];
    if (piece.empty()) return std::nullopt;
    out += "\\sqrt";
    if (piece.front() == '{') {
      out += piece;
    } else {
      const auto width = first_width(piece);
      out.append("{").append(piece.substr(0, width)).append("}").append(piece.substr(width));
    }
  }
  return out;
}

/// \frac12 becomes \frac{1}{2}; absent where nothing follows one.
std::optional<std::string> with_braces_at_fractions(const std::string& text) {
  const auto pieces = python_split(text, "\\frac");
  std::string out(pieces.front());
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto piece = pieces[i];
    if (piece.empty()) return std::nullopt;
    out += "\\frac";
    if (piece.front() == '{') {
      out += piece;
      continue;
    }
    const auto upper = first_width(piece);
    if (upper == piece.size()) return text;
    const auto rest = piece.substr(upper);
    out.append("{").append(piece.substr(0, upper)).append("}");
    if (rest.front() == '{') {
      out += rest;
    } else {
      const auto lower = first_width(rest);
      out.append("{").append(rest.substr(0, lower)).append("}").append(rest.substr(lower));
    }
  }
  return out;
}

std::optional<std::string> whole_number(std::string_view text) {
  const auto number = python_int(text);
  if (!number) return std::nullopt;
  const auto spelled = chat::repr(*number);
  return spelled == text ? std::optional(spelled) : std::nullopt;
}

std::optional<std::string> stripped(std::string_view given) {
  std::string text(given);
  for (const auto gone : {"\n", "\\!"}) replace_all(text, gone, "");
  replace_all(text, "\\\\", "\\");
  for (const auto fraction : {"tfrac", "dfrac"}) replace_all(text, fraction, "frac");
  for (const auto gone : {"\\left", "\\right", "^{\\circ}", "^\\circ", "\\$"}) replace_all(text, gone, "");
  if (const auto units = python_split(text, "\\text{ "); units.size() > 1) {
    if (units.size() > 2) return std::nullopt;
    text = std::string(units.front());
  }
  replace_all(text, "\\%", "");
  replace_all(text, " .", " 0.");
  replace_all(text, "{.", "{0.");
  if (text.empty()) return text;
  if (text.front() == '.') text.insert(text.begin(), '0');
  if (const auto sides = python_split(text, "="); sides.size() == 2 && sides[0].size() <= 2)
    text = std::string(sides[1]);
  auto rooted = with_braces_at_roots(text);
  if (!rooted) return std::nullopt;
  text = *std::move(rooted);
  std::erase(text, ' ');
  auto fractions = with_braces_at_fractions(text);
  if (!fractions) return std::nullopt;
  text = *std::move(fractions);
  if (text == "0.5") return "\\frac{1}{2}";
  if (const auto sides = python_split(text, "/"); sides.size() == 2) {
    const auto over = whole_number(sides[0]);
    const auto under = whole_number(sides[1]);
    if (over && under) return "\\frac{" + *over + "}{" + *under + "}";
  }
  return text;
}

/// A tuple, an interval or a set.
struct collection {
  std::string_view open;
  std::string_view close;
  std::vector<std::string_view> elements;
};

std::optional<collection> collection_in(std::string_view text) {
  text = trimmed(text);
  collection out;
  for (const std::string_view open : {"\\{", "{", "(", "["}) {
    if (out.open.empty() && text.starts_with(open)) out.open = text.substr(0, open.size());
  }
  for (const std::string_view close : {"\\}", "}", ")", "]"}) {
    if (out.close.empty() && text.ends_with(close)) out.close = text.substr(text.size() - close.size());
  }
  if (out.open.empty() || out.close.empty() || text.size() < out.open.size() + out.close.size())
    return std::nullopt;
  const auto inside = text.substr(out.open.size(), text.size() - out.open.size() - out.close.size());
  int open = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const char c = inside[i];
    if (c == '(' || c == '[' || c == '{') ++open;
    if (c == ')' || c == ']' || c == '}') --open;
    if (open < 0) return std::nullopt;
    if (c != ',' || open > 0) continue;
    out.elements.push_back(trimmed(inside.substr(begin, i - begin)));
    begin = i + 1;
  }
  out.elements.push_back(trimmed(inside.substr(begin)));
  return out;
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  const auto found = last_number(text);
  return found && found->text == text ? std::optional(found->value) : std::nullopt;
}

bool equivalent(std::string_view a, std::string_view b, int depth);

bool same_set(const collection& a, const collection& b, int depth) {  // NOLINT(misc-no-recursion)
  std::vector<bool> taken(b.elements.size());
  for (const auto one : a.elements) {
    std::size_t at = 0;
    while (at < taken.size() && (taken[at] || !equivalent(one, b.elements[at], depth))) ++at;
    if (at == taken.size()) return false;
    taken[at] = true;
  }
  return true;
}

bool equivalent(std::string_view a, std::string_view b, int depth) {  // NOLINT(misc-no-recursion)
  if (a.empty() || b.empty()) return false;
  const auto first = stripped(a);
  const auto second = stripped(b);
  if (first && second ? *first == *second : a == b) return true;
  const auto number = number_in(a);
  const auto other = number_in(b);
  if (number && other) return same_number(*number, *other);
  if (depth == most_depth) return false;
  // Sets are compared element by element with each other: not those of a size that no answer has.
  constexpr std::size_t most_elements = 200;
  const auto left = collection_in(first ? *first : a);
  const auto right = collection_in(second ? *second : b);
  if (!left || !right || left->open.back() != right->open.back() ||
      left->close.back() != right->close.back() || left->elements.size() != right->elements.size() ||
      left->elements.size() > most_elements) {
    return false;
  }
  if (left->open.back() == '{') return same_set(*left, *right, depth + 1);
  return std::ranges::equal(left->elements, right->elements,
                            [&](auto x, auto y) { return equivalent(x, y, depth + 1); });
}

std::optional<std::string_view> boxed(std::string_view text) {
  static constexpr std::string_view box = "\\boxed";
  const auto at = text.rfind(box);
  if (at == std::string_view::npos) return std::nullopt;
  auto rest = text.substr(at + box.size());
  if (rest.starts_with(' ')) return trimmed(rest.substr(0, rest.find_first_of("$\n")));
  if (!rest.starts_with('{')) return std::nullopt;
  int open = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '{') ++open;
    if (rest[i] == '}' && --open == 0) return trimmed(rest.substr(1, i - 1));
  }
  return std::nullopt;
}

std::string_view bare(std::string_view text) {
  text = trimmed(text);
  while (!text.empty() && (text.back() == '.' || text.back() == '*')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ':' || text.front() == ' ' || text.front() == '*'))
    text.remove_prefix(1);
  text = trimmed(text);
  if (text.size() > 1 && text.front() == '$' && text.back() == '$') text = text.substr(1, text.size() - 2);
  return trimmed(text);
}

}  // namespace

std::string_view math_answer(std::string_view text) {
  if (const auto found = boxed(text); found && !found->empty()) return *found;
  static constexpr std::string_view words = "answer is";
  if (const auto at = text.rfind(words); at != std::string_view::npos) {
    const auto rest = text.substr(at + words.size());
    const auto found = bare(rest.substr(0, rest.find('\n')));
    if (!found.empty()) return found;
  }
  if (const auto last = text.rfind('$'); last != std::string_view::npos && last > 0) {
    const auto first = text.rfind('$', last - 1);
    if (first != std::string_view::npos) {
      const auto found = trimmed(text.substr(first + 1, last - first - 1));
      if (!found.empty()) return found;
    }
  }
  return trimmed(text);
}

bool math_equivalent(std::string_view a, std::string_view b) { return equivalent(a, b, 0); }

}  // namespace evalcore::score
