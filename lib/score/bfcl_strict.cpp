#include <algorithm>
#include <string>
#include <string_view>

#include "score/bfcl_check.hpp"
#include "score/text.hpp"
#include "score/unicode.hpp"

namespace evalcore::score {
namespace {

using chat::python_value;
using values = std::vector<python_value>;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool word(char c) {
  return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// In the form in which texts are compared: case, blanks and most punctuation gone, but not the sign or the
/// point of a number.
std::string standard(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char before = i > 0 ? text[i - 1] : ' ';
    const bool before_digit = i + 1 < text.size() && digit(text[i + 1]);
    const bool of_number = before_digit && ((c == '.' && digit(before)) || (c == '-' && !word(before)));
    if (of_number || std::string_view(" ,./-_*^").find(c) == std::string_view::npos) kept += c;
  }
  kept = lower(kept);
  std::ranges::replace(kept, '\'', '"');
  return kept;
}

const values* elements_of(const python_value& value) {
  if (const auto* list = std::get_if<python_value::list>(&value.state)) return &list->elements;
  if (const auto* tuple = std::get_if<python_value::tuple>(&value.state)) return &tuple->elements;
  return nullptr;
}

bool is_bool(const python_value& value) { return type_of(value) == python_type::boolean; }

bool same(const python_value& accepted, const python_value& value, bool float_is_int);

bool same_dict(const python_value::dict& accepted,
               const python_value::dict& value) {  // NOLINT(misc-no-recursion)
  const auto find = [](const python_value::dict& in, const python_value& key) -> const python_value* {
    for (const auto& [held, member] : in.items) {
      if (held == key) return &member;
    }
    return nullptr;
  };
  for (const auto& [key, member] : value.items) {
    const auto* choices = find(accepted, key);
    if (choices == nullptr) return false;
    const auto* list = elements_of(*choices);
    const bool one_of = list != nullptr && std::ranges::any_of(*list, [&](const auto& one) {  // NOLINT
                          return same(one, member, true);
                        });
    if (!one_of && !same(*choices, member, true)) return false;
  }
  return std::ranges::all_of(accepted.items, [&](const auto& item) {
    const auto* choices = elements_of(item.second);
    const python_value empty{std::string()};
    const bool optional = choices != nullptr && std::ranges::find(*choices, empty) != choices->end();
    return optional || find(value, item.first) != nullptr;
  });
}

/// `float_is_int`: 5.0 is 5, where a float is wanted or nobody says what is.
bool same(const python_value& accepted, const python_value& value,
          bool float_is_int) {  // NOLINT(misc-no-recursion)
  if (is_bool(accepted) != is_bool(value)) return false;
  const auto* wanted = std::get_if<std::string>(&accepted.state);
  const auto* text = std::get_if<std::string>(&value.state);
  if (wanted != nullptr && text != nullptr) return standard(*wanted) == standard(*text);
  const auto* model = elements_of(accepted);
  const auto* list = elements_of(value);
  if (model != nullptr && list != nullptr) {
    return std::ranges::equal(*model, *list, [&](const auto& a, const auto& b) {
      return same(a, b, float_is_int || type_of(a) == python_type::floating);
    });
  }
  const auto* shape = std::get_if<python_value::dict>(&accepted.state);
  const auto* dict = std::get_if<python_value::dict>(&value.state);
  if (shape != nullptr && dict != nullptr) return same_dict(*shape, *dict);
  const bool float_for_int =
      type_of(accepted) == python_type::integer && type_of(value) == python_type::floating;
  return (float_is_int || !float_for_int) && chat::python_equal(accepted, value);
}

}  // namespace

std::optional<mismatch> why_wrong_strictly(const declared_type& type, const values& accepted,
                                           const python_value& value) {
  const bool floats = type.outer == python_type::floating || type.nested == python_type::floating;
  const bool right = std::ranges::any_of(accepted, [&](const python_value& one) {
    // A text where another type is declared is the name of a variable.
    if (type_of(one) == python_type::string && type.outer != python_type::string) return one == value;
    return same(one, value, floats);
  });
  if (right) return std::nullopt;
  return mismatch{"got " + clipped(chat::repr(value)) + ", expected one of " +
                      clipped(chat::repr(python_value(python_value::list{accepted}))),
                  false};
}

}  // namespace evalcore::score
