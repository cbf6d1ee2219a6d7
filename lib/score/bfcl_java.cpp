#include <string>
#include <utility>

#include "score/bfcl_language.hpp"
#include "score/bfcl_source.hpp"
#include "score/python_text.hpp"

namespace evalcore::score {
namespace {

using chat::python_value;

std::vector<pattern::match> all(const pattern& what, std::string_view in) {
  auto found = what.find_all(in);
  return found ? *std::move(found) : std::vector<pattern::match>();
}

bool matches(const pattern& what, std::string_view text) { return first(what, text).has_value(); }

std::string_view group(const pattern::match& of, std::size_t index) {
  return of[index].value_or(std::string_view());
}

python_value int_or_text(std::string_view digits, std::string_view text) {
  return python_int(digits).value_or(text_value(text));
}

const pattern& long_form() {
  static const pattern out = known(R"(^-?\d+[lL]$)");
  return out;
}

const pattern& float_form() {
  static const pattern out = known(R"(^-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$)");
  return out;
}

/// A value whose type is not declared.
python_value guessed(std::string_view text) {
  if (text == "true") return python_value(true);
  if (text == "false") return python_value(false);
  if (text.starts_with('"') && text.ends_with('"')) return text_value(without_ends(text));
  if (matches(long_form(), text)) return int_or_text(without_last(without_line_end(text)), text);
  if (matches(float_form(), text)) {
    if (const auto number = python_float(without_last(without_line_end(text)))) return python_value(*number);
  }
  if (auto number = python_int(text)) return *std::move(number);
  if (const auto number = python_float(text)) return python_value(*number);
  return text_value(text);
}

result<python_value> element(std::string_view text, std::string_view nested) {
  if (nested.empty()) return guessed(text);
  return java_value(text, nested, {});
}

result<python_value> array_list(std::string_view text, std::string_view nested) {
  static const pattern of_list = known(R"(new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\))");
  static const pattern of_block = known(R"(new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\})", true);
  static const pattern added = known(R"(add\((.+?)\))");
  static const pattern empty = known(R"(new\s+ArrayList<\w*>\(\))");
  std::vector<std::string_view> pieces;
  if (const auto list = first(of_list, text)) {
    for (const auto piece : python_split(group(*list, 1), ",")) pieces.push_back(python_strip(piece));
  } else if (const auto block = first(of_block, text)) {
    for (const auto& one : all(added, group(*block, 1))) pieces.push_back(python_strip(group(one, 1)));
  } else if (!matches(empty, text)) {
    return text_value(text);
  }
  python_value::list out;
  for (const auto piece : pieces) {
    if (nested == "char" || nested == "String") {
      out.elements.push_back(text_value(without_ends(piece)));
      continue;
    }
    auto value = element(piece, nested);
    if (!value) return value;
    out.elements.push_back(*std::move(value));
  }
  return python_value(std::move(out));
}

result<python_value> array(std::string_view text, std::string_view nested) {
  static const pattern form = known(R"(new\s+\w+\[\]\s*\{(.*?)\})");
  const auto found = first(form, text);
  if (!found) return text_value(text);
  python_value::list out;
  for (const auto piece : python_split(group(*found, 1), ",")) {
    const auto bare = python_strip(piece);
    if (bare.empty()) continue;
    auto value = element(bare, nested);
    if (!value) return value;
    out.elements.push_back(*std::move(value));
  }
  return python_value(std::move(out));
}

python_value hash_map(std::string_view text) {
  static const pattern block = known(R"(new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\})", true);
  static const pattern put = known(R"re(put\("(.*?)",\s*(.*?)\))re");
  static const pattern empty = known(R"(new\s+HashMap<.*?>\s*\(\))");
  source_dict out;
  if (const auto found = first(block, text)) {
    for (const auto& one : all(put, group(*found, 1)))
      out.put(group(one, 1), guessed(python_strip(group(one, 2))));
  } else if (!matches(empty, text)) {
    return text_value(text);
  }
  return std::move(out).take();
}

}  // namespace

result<python_value> java_value(std::string_view text, std::string_view word, std::string_view nested) {
  static const pattern whole = known(R"(^-?\d+$)");
  static const pattern real = known(R"(^-?\d+(\.\d+)?([eE][+-]?\d+)?$)");
  const auto line = without_line_end(text);
  if (word == "byte" || word == "short" || word == "integer") {
    return matches(whole, text) ? int_or_text(line, text) : text_value(text);
  }
  if (word == "long")
    return matches(long_form(), text) ? int_or_text(without_last(line), text) : text_value(text);
  if (word == "float" || word == "double") {
    const bool single = word == "float";
    if (!matches(single ? float_form() : real, text)) return text_value(text);
    const auto number = python_float(single ? without_last(line) : line);
    return number ? python_value(*number) : text_value(text);
  }
  if (word == "boolean") {
    return text == "true" || text == "false" ? python_value(text == "true") : text_value(text);
  }
  if (word == "ArrayList") return array_list(text, nested);
  if (word == "Array") return array(text, nested);
  if (word == "HashMap") return hash_map(text);
  if (word == "String" || word == "any" || word == "char") return text_value(text);
  return fail(errc::unsupported, stage::score, "the checker cannot read a " + std::string(word));
}

}  // namespace evalcore::score
