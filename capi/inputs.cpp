#include "inputs.hpp"

#include <array>
#include <charconv>
#include <limits>

#include <evalcore/base/utf8.hpp>

#include "error.hpp"

namespace evalcore::capi {
namespace {

/// What is bounded by its type alone.
constexpr auto largest_count = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

constexpr double no_bound = 1e30;

/// Without an exponent, and whatever the locale.
std::string in_digits(double number) {
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed).ptr;
  return {text.data(), end};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto step = first_utf8(text);
    if (!step.valid) return false;
    text.remove_prefix(step.bytes);
  }
  return true;
}

}  // namespace

error misuse(std::string message, std::string detail) {
  auto wrong = fail(errc::invalid_argument, stage::config, std::move(message));
  wrong.detail = std::move(detail);
  return wrong;
}

result<std::string> read_text(evc_str given, const char* what) {
  if (given.size > 0 && given.data == nullptr) {
    return misuse(std::string(what) + " has a size but no data", "null");
  }
  if (!is_utf8(view(given))) return misuse(std::string(what) + " is not UTF-8", "not_utf8");
  return std::string(view(given));
}

result<void> check_range(const std::string& what, std::uint64_t number, std::uint64_t least,
                         std::uint64_t most) {
  if (number >= least && number <= most) return {};
  if (most >= largest_count) return misuse(what + " must be " + std::to_string(least) + " or more");
  return misuse(what + " must be " + std::to_string(least) + " to " + std::to_string(most));
}

result<void> check_range(const std::string& what, double number, double least, double most) {
  if (in_range(number, least, most)) return {};
  const auto from = what + " must be " + in_digits(least);
  return misuse(most < no_bound ? from + " to " + in_digits(most) : from + " or more");
}

result<engine::evaluation> read_evaluation(evc_str given) {
  const auto word = read_text(given, "evaluation");
  if (!word) return word.error();
  if (*word == "parity") return engine::evaluation::parity;
  if (*word == "fast") return engine::evaluation::fast;
  return misuse("evaluation is neither parity nor fast");
}

result<chat::token_ids> read_tokens(evc_tokens given, const char* what) {
  if (given.size > 0 && given.data == nullptr) {
    return misuse(std::string(what) + " have a size but no data", "null");
  }
  chat::token_ids read;
  read.reserve(given.size);
  for (std::size_t i = 0; i < given.size; ++i) {
    if (given.data[i] < 0) return misuse(std::string(what) + " hold a negative id");
    read.push_back(static_cast<std::uint32_t>(given.data[i]));
  }
  return read;
}

}  // namespace evalcore::capi
