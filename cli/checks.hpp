#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace evalcore::cli {

// CLI11's own checks of numbers let "", nan and what does not fit the type through, and read 010 as 8.
// Includes CLI11, so only what reads arguments includes this.

template <class Number>
bool reads_as(const std::string& text, Number& number) {
  const auto* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  return failed == std::errc() && stopped == end;
}

/// A decimal number from `least` to `most`.
inline CLI::Validator real_number(double least, double most) {
  return {[least, most](const std::string& text) -> std::string {
            double number = 0;
            if (reads_as(text, number) && number >= least && number <= most) return {};
            std::ostringstream wrong;
            wrong << '"' << text << "\" is no number from " << least << " to " << most;
            return wrong.str();
          },
          ""};
}

/// A whole decimal number from `least` to `most`, without leading zeros.
inline CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](const std::string& text) -> std::string {
            std::int64_t number = 0;
            const bool octal = text.size() > 1 && text[0] == '0';
            if (reads_as(text, number) && !octal && number >= least && number <= most) return {};
            std::ostringstream wrong;
            wrong << '"' << text << "\" is no whole number from " << least << " to " << most;
            return wrong.str();
          },
          ""};
}

/// One of a few words, named when another is given.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  return {[words](const std::string& text) -> std::string {
            std::string known;
            for (const auto& word : words) {
              if (word == text) return {};
              known += (known.empty() ? "" : ", ") + word;
            }
            return '"' + text + "\" is none of: " + known;
          },
          ""};
}

}  // namespace evalcore::cli
