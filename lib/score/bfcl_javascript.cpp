#include <string>
#include <utility>

#include "score/bfcl_language.hpp"
#include "score/bfcl_source.hpp"
#include "score/python_text.hpp"

namespace evalcore::score {
namespace {

using chat::python_value;

bool in_quotes(std::string_view text) {
  return (text.starts_with('"') && text.ends_with('"')) || (text.starts_with('\'') && text.ends_with('\''));
}

/// A value whose type is not declared.
python_value guessed(std::string_view text) {
  text = python_strip(text);
  if (text == "true") return python_value(true);
  if (text == "false") return python_value(false);
  if (in_quotes(text)) return text_value(without_ends(text));
  if (auto number = python_int(text)) return *std::move(number);
  if (const auto number = python_float(text)) return python_value(*number);
  return text_value(text);
}

python_value rows(std::string_view text) {
  static const pattern inner = known(R"(\[(.*?)\])");
  python_value::list out;
  const auto found = inner.find_all(text);
  if (!found) return text_value(text);
  for (const auto& one : *found) {
    auto row = python_strip(one[1].value_or(std::string_view()));
    if (out.elements.empty() && row.starts_with('[')) row.remove_prefix(1);
    python_value::list elements;
    for (const auto piece : python_split(row, ",")) elements.elements.push_back(guessed(piece));
    out.elements.emplace_back(std::move(elements));
  }
  return python_value(std::move(out));
}

python_value array(std::string_view text, std::string_view nested) {
  static const pattern of_rows =
      known(R"(^(?:\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\)))");
  static const pattern plain = known(R"(^(?:\[(.*?)\]|\bnew\s+Array\((.*?)\)))");
  text = python_strip(text);
  if (const auto found = first(of_rows, text)) return rows(*(*found)[0]);
  const auto found = first(plain, text);
  if (!found) return text_value(text);
  const auto inside = python_strip((*found)[1] ? *(*found)[1] : (*found)[2].value_or(std::string_view()));
  python_value::list out;
  if (inside.empty()) return python_value(std::move(out));
  for (const auto piece : python_split(inside, ",")) {
    auto value = nested.empty() ? guessed(piece) : javascript_value(python_strip(piece), nested, {});
    if (!value) return text_value(text);
    out.elements.push_back(*std::move(value));
  }
  return python_value(std::move(out));
}

python_value dict(std::string_view text) {
  static const pattern braces = known(R"(^\{(.*?)\})");
  static const pattern pair = known(R"(([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$))");
  text = python_strip(text);
  if (text == "{}") return python_value(python_value::dict());
  const auto found = first(braces, text);
  if (!found) return text_value(text);
  const auto pairs = pair.find_all((*found)[1].value_or(std::string_view()));
  if (!pairs) return text_value(text);
  const auto stripped = [](std::string_view of) {
    const auto from = of.find_first_not_of("'\"");
    if (from == std::string_view::npos) return std::string_view();
    return of.substr(from, of.find_last_not_of("'\"") - from + 1);
  };
  source_dict out;
  for (const auto& one : *pairs) {
    const auto bare = python_strip(one[2].value_or(std::string_view()));
    out.put(stripped(python_strip(one[1].value_or(std::string_view()))),
            bare.starts_with('[') && bare.ends_with(']')   ? array(bare, {})
            : bare.starts_with('{') && bare.ends_with('}') ? dict(bare)
                                                           : guessed(stripped(bare)));
  }
  return std::move(out).take();
}

}  // namespace

result<python_value> javascript_value(std::string_view text, std::string_view word, std::string_view nested) {
  static const pattern whole = known(R"(^-?\d+$)");
  static const pattern real = known(R"(^-?\d+(\.\d+)?$)");
  static const pattern big = known(R"(^-?\d+n$)");
  const auto line = without_line_end(text);
  if (word == "String") return text_value(in_quotes(text) ? without_ends(text) : text);
  if (word == "integer") {
    return first(whole, text) ? python_int(line).value_or(text_value(text)) : text_value(text);
  }
  if (word == "float") {
    const auto number = first(real, text) ? python_float(line) : std::nullopt;
    return number ? python_value(*number) : text_value(text);
  }
  if (word == "Bigint") {
    return first(big, text) ? python_int(without_last(line)).value_or(text_value(text)) : text_value(text);
  }
  if (word == "Boolean") {
    return text == "true" || text == "false" ? python_value(text == "true") : text_value(text);
  }
  if (word == "dict") return dict(text);
  if (word == "array") return array(text, nested);
  if (word == "any") return text_value(text);
  return fail(errc::unsupported, stage::score, "the checker cannot read a " + std::string(word));
}

}  // namespace evalcore::score
