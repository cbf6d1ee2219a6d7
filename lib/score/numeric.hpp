#pragma once

#include <optional>
#include <string_view>

namespace evalcore::score {

struct number_in_text {
  double value = 0;
  std::string_view text;  ///< Where it stands, its sign and currency included.
};

/// The last number of a text: an optional sign (also U+2212) and currency sign ($ € £ ¥), digits in plain or
/// in groups of three ("70,000"), decimals, an exponent. A hyphen after a letter, digit or bracket is none of
/// its sign; digits that follow a letter ("Q4") are part of a word. Takes linear time.
[[nodiscard]] std::optional<number_in_text> last_number(std::string_view text);

/// Within 1e-9 of the larger.
[[nodiscard]] bool same_number(double a, double b) noexcept;

}  // namespace evalcore::score
