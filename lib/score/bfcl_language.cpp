#include "score/bfcl_language.hpp"

#include <array>
#include <span>
#include <string>

#include <evalcore/score/bfcl.hpp>

namespace evalcore::score {
namespace {

using chat::call_language;

struct type_word {
  std::string_view word;
  python_type type;
};

constexpr std::array python_words{
    type_word{"string", python_type::string},  type_word{"integer", python_type::integer},
    type_word{"float", python_type::floating}, type_word{"boolean", python_type::boolean},
    type_word{"array", python_type::list},     type_word{"tuple", python_type::list},
    type_word{"dict", python_type::dict},      type_word{"any", python_type::string},
};
constexpr std::array java_words{
    type_word{"byte", python_type::integer},    type_word{"short", python_type::integer},
    type_word{"integer", python_type::integer}, type_word{"long", python_type::integer},
    type_word{"float", python_type::floating},  type_word{"double", python_type::floating},
    type_word{"boolean", python_type::boolean}, type_word{"char", python_type::string},
    type_word{"String", python_type::string},   type_word{"Array", python_type::list},
    type_word{"ArrayList", python_type::list},  type_word{"HashMap", python_type::dict},
    type_word{"any", python_type::string},
};
constexpr std::array javascript_words{
    type_word{"String", python_type::string},   type_word{"integer", python_type::integer},
    type_word{"float", python_type::floating},  type_word{"Bigint", python_type::integer},
    type_word{"Boolean", python_type::boolean}, type_word{"dict", python_type::dict},
    type_word{"array", python_type::list},      type_word{"any", python_type::string},
};

std::span<const type_word> words_of(call_language in) {
  switch (in) {
    case call_language::python:
      break;
    case call_language::java:
      return java_words;
    case call_language::javascript:
      return javascript_words;
  }
  return python_words;
}

}  // namespace

call_language bfcl_language(std::string_view category) noexcept {
  if (category.find("javascript") != std::string_view::npos) return call_language::javascript;
  return category.find("java") != std::string_view::npos ? call_language::java : call_language::python;
}

std::optional<python_type> type_for(call_language in, std::string_view word) noexcept {
  for (const auto& one : words_of(in)) {
    if (one.word == word) return one.type;
  }
  return std::nullopt;
}

bool is_list_of(call_language in, std::string_view word) noexcept {
  switch (in) {
    case call_language::python:
      return word == "array" || word == "tuple";
    case call_language::java:
      return word == "Array" || word == "ArrayList";
    case call_language::javascript:
      break;
  }
  return word == "array";
}

std::string known_types(call_language in) {
  std::string out;
  for (const auto& one : words_of(in)) out.append(out.empty() ? "" : ", ").append(one.word);
  return out;
}

}  // namespace evalcore::score
