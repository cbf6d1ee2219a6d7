#pragma once

#include <string>

#include <evalcore/base/json.hpp>

namespace evalcore::run {

/// Appends a number as Foundation's JSONEncoder writes it: the fewest digits that read back, as a plain
/// decimal from 1e-4 to 2^53 and with an exponent outside, integral ones without ".0". A number that is not
/// finite has no JSON form: std::invalid_argument.
void append_as_foundation(std::string& out, double number);
/// A text in quotes, "/" as "\/".
void append_as_foundation(std::string& out, const std::string& text);

/// The text that JSONEncoder gives with `prettyPrinted` and `sortedKeys`: two blanks a level, " : " between
/// key and value, keys in the order of their bytes, an empty list or object over three lines.
[[nodiscard]] std::string to_foundation_text(const json::value& root);

}  // namespace evalcore::run
