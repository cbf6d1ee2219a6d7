#pragma once

#include <string_view>

namespace evalcore::score {

/// The answer in a text with LaTeX: the last \boxed{…} (or "\boxed 7"), else what follows the last "answer
/// is" on its line, else what stands between the last two $, else all of it.
[[nodiscard]] std::string_view math_answer(std::string_view text);

/// Whether two answers are the same by the rules of the MATH benchmark, which write fractions, roots, units
/// and spacing in one way; or are the same number, tuples or intervals of the same elements, or sets of them
/// in any order. An empty one is like nothing.
[[nodiscard]] bool math_equivalent(std::string_view a, std::string_view b);

}  // namespace evalcore::score
