#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/call_text.hpp>

namespace evalcore::score {

/// Python's type() of a value.
enum class python_type : std::uint8_t { none, boolean, integer, floating, string, list, tuple, dict };

/// The type that a value must have where BFCL declares `word`; absent: it knows no such type.
[[nodiscard]] std::optional<python_type> type_for(chat::call_language in, std::string_view word) noexcept;
/// Whether `word` is a list whose elements have a declared type of their own.
[[nodiscard]] bool is_list_of(chat::call_language in, std::string_view word) noexcept;
/// "string, integer, …", for messages.
[[nodiscard]] std::string known_types(chat::call_language in);

/// What BFCL's checker makes of a value that is the source text of an expression in Java: numbers, booleans,
/// arrays, ArrayLists and HashMaps become values, what is not in the form of its declared type stays text.
/// `nested`: the type of the elements; empty: none is declared. Errors: unsupported where the checker raises
/// (Set, Queue and their like).
[[nodiscard]] result<chat::python_value> java_value(std::string_view text, std::string_view word,
                                                    std::string_view nested);
/// The same for JavaScript.
[[nodiscard]] result<chat::python_value> javascript_value(std::string_view text, std::string_view word,
                                                          std::string_view nested);

}  // namespace evalcore::score
