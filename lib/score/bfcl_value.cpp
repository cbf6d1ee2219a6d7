#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "score/bfcl_check.hpp"
#include "score/text.hpp"
#include "score/unicode.hpp"

namespace evalcore::score {
namespace {

using chat::python_value;
using values = std::vector<python_value>;
using reason = std::optional<mismatch>;

mismatch because(std::string why) { return {std::move(why), false}; }

bool is_empty_text(const python_value& value) {
  const auto* text = std::get_if<std::string>(&value.state);
  return text != nullptr && text->empty();
}

/// Strings in the form in which they are compared, other values unchanged.
python_value standard(const python_value& value) {
  const auto* text = std::get_if<std::string>(&value.state);
  if (text == nullptr) return value;
  std::string kept;
  for (const char c : *text) {
    if (std::string_view(" ,./-_*^").find(c) == std::string_view::npos) kept += c;
  }
  kept = lower(kept);
  std::ranges::replace(kept, '\'', '"');
  return python_value(std::move(kept));
}

values standard(const values& all) {
  values out;
  out.reserve(all.size());
  for (const auto& one : all) out.push_back(standard(one));
  return out;
}

bool holds(const values& all, const python_value& value) {
  return std::ranges::any_of(all, [&](const auto& one) { return chat::python_equal(one, value); });
}

std::string expected_one_of(const values& accepted) {
  return ", expected one of " + clipped(chat::repr(python_value(python_value::list{accepted})));
}

std::string got(const python_value& value) { return "got " + clipped(chat::repr(value)); }

reason unequal(const python_value& value, const values& accepted) {
  return because(got(value) + expected_one_of(accepted));
}

/// The type of the first accepted value that does not merely say "optional".
std::optional<python_type> accepted_type(const values& accepted) {
  for (const auto& one : accepted) {
    if (!is_empty_text(one)) return type_of(one);
  }
  return std::nullopt;
}

enum class fit { no, as_declared, as_accepted };

/// as_accepted: the value, or what is accepted, is of another type than declared.
fit fit_of(python_type declared, const std::optional<python_type>& nested, const values& accepted,
           const python_value& value) {
  const auto other = accepted_type(accepted);
  const bool differs = other && *other != declared;
  if (type_of(value) != declared) return other && *other == type_of(value) ? fit::as_accepted : fit::no;
  const fit matched = differs ? fit::as_accepted : fit::as_declared;
  const auto* list = std::get_if<python_value::list>(&value.state);
  if (!nested || list == nullptr) return matched;
  const bool elements_fit = std::ranges::any_of(accepted, [&](const python_value& one) {
    const auto* model = std::get_if<python_value::list>(&one.state);
    return model == nullptr || std::ranges::all_of(list->elements, [&](const python_value& element) {
             return fit_of(*nested, std::nullopt, model->elements, element) != fit::no;
           });
  });
  return elements_fit ? matched : fit::no;
}

const python_value* find_key(const python_value::dict& dict, const python_value& key) {
  for (const auto& [held, value] : dict.items) {
    if (chat::python_equal(held, key)) return &value;
  }
  return nullptr;
}

/// What is accepted for a key. The checker takes a text for the list of its characters. Absent: it raises.
std::optional<values> choices_of(const python_value& accepted) {
  if (const auto* list = std::get_if<python_value::list>(&accepted.state)) return list->elements;
  const auto* text = std::get_if<std::string>(&accepted.state);
  if (text == nullptr) return std::nullopt;
  values out;
  for (std::size_t at = 0; at < text->size();) {
    std::size_t end = at + 1;
    while (end < text->size() && (static_cast<unsigned char>((*text)[end]) & 0xC0U) == 0x80U) ++end;
    out.emplace_back(text->substr(at, end - at));
    at = end;
  }
  return out;
}

/// Whether a key may be left out: every text holds an empty one.
bool may_be_absent(const python_value& accepted) {
  if (std::holds_alternative<std::string>(accepted.state)) return true;
  const auto* list = std::get_if<python_value::list>(&accepted.state);
  return list != nullptr && std::ranges::any_of(list->elements, is_empty_text);
}

reason why_wrong_dict(const python_value::dict& value, const python_value& accepted) {
  const auto* model = std::get_if<python_value::dict>(&accepted.state);
  if (model == nullptr) return mismatch{"a dict is not expected", true};
  for (const auto& [key, member] : value.items) {
    const auto* held = find_key(*model, key);
    if (held == nullptr) return because("unexpected key " + clipped(chat::repr(key)));
    const auto choices = choices_of(*held);
    if (choices && holds(standard(*choices), standard(member))) continue;
    return mismatch{"key " + clipped(chat::repr(key)) + ": " + got(member) + ", expected one of " +
                        clipped(chat::repr(*held)),
                    !choices};
  }
  for (const auto& [key, choices] : model->items) {
    if (!may_be_absent(choices) && find_key(value, key) == nullptr)
      return because("key " + clipped(chat::repr(key)) + " is missing");
  }
  return std::nullopt;
}

/// The reason that the last accepted dict gives.
reason why_wrong_dict(const python_value::dict& value, const values& accepted) {
  reason why = because("no dict is accepted");
  for (const auto& one : accepted) {
    if (is_empty_text(one)) continue;
    why = why_wrong_dict(value, one);
    if (!why || why->raises) return why;
  }
  return why;
}

reason why_wrong_dicts(const values& elements, const values& accepted) {
  reason why = because("no list is accepted");
  for (const auto& one : accepted) {
    const auto* list = std::get_if<python_value::list>(&one.state);
    const std::size_t size = list == nullptr ? 0 : list->elements.size();
    if ((list == nullptr && !is_empty_text(one)) || size != elements.size()) {
      why = because("got " + std::to_string(elements.size()) + " elements, expected " + std::to_string(size));
      continue;
    }
    why.reset();
    for (std::size_t i = 0; i < size && !why; ++i) {
      const auto* dict = std::get_if<python_value::dict>(&elements[i].state);
      why = dict == nullptr ? mismatch{"element " + std::to_string(i) + " is not a dict", true}
                            : why_wrong_dict(*dict, values{list->elements[i]});
    }
    if (!why || why->raises) return why;
  }
  return why;
}

reason why_wrong_list(const python_value::list& value, const values& accepted) {
  const python_value own(python_value::list{standard(value.elements)});
  for (const auto& one : accepted) {
    const auto* list = std::get_if<python_value::list>(&one.state);
    if (list == nullptr && !is_empty_text(one)) continue;
    const python_value model(python_value::list{list == nullptr ? values() : standard(list->elements)});
    if (chat::python_equal(own, model)) return std::nullopt;
  }
  return unequal(python_value(value), accepted);
}

/// The two conversions that the checker makes before it looks at the type.
python_value converted(const declared_type& type, const python_value& value) {
  if (const auto* tuple = std::get_if<python_value::tuple>(&value.state);
      tuple != nullptr && type.word == "tuple") {
    return python_value(python_value::list{tuple->elements});
  }
  if (type.word != "float") return value;
  if (const auto* number = std::get_if<std::int64_t>(&value.state))
    return python_value(static_cast<double>(*number));
  if (const auto* big = std::get_if<python_value::big_int>(&value.state)) {
    double number = 0;
    const char* end = big->digits.data() + big->digits.size();
    if (std::from_chars(big->digits.data(), end, number).ec == std::errc{}) return python_value(number);
  }
  return value;
}

}  // namespace

reason why_wrong_value(const declared_type& type, const values& accepted, const python_value& raw) {
  const python_value value = converted(type, raw);
  const fit match = fit_of(type.outer, type.nested, accepted, value);
  if (match == fit::no) {
    const std::string inner = type.nested ? " of " + std::string(name(*type.nested)) : "";
    return because(got(value) + " of type " + std::string(name(type_of(value))) + ", expected type " +
                   type.word + inner);
  }
  if (match == fit::as_declared) {
    if (const auto* dict = std::get_if<python_value::dict>(&value.state))
      return why_wrong_dict(*dict, accepted);
    if (const auto* list = std::get_if<python_value::list>(&value.state)) {
      return type.nested == python_type::dict ? why_wrong_dicts(list->elements, accepted)
                                              : why_wrong_list(*list, accepted);
    }
    if (std::holds_alternative<std::string>(value.state)) {
      // Only strings are standardised, and only strings are looked at.
      values texts;
      std::ranges::copy_if(accepted, std::back_inserter(texts),
                           [](const auto& one) { return type_of(one) == python_type::string; });
      return holds(standard(texts), standard(value)) ? std::nullopt : unequal(value, accepted);
    }
  }
  return holds(accepted, value) ? std::nullopt : unequal(value, accepted);
}

}  // namespace evalcore::score
