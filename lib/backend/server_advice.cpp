#include "backend/server_advice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <evalcore/base/ascii.hpp>

namespace evalcore::backend {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// Longer than any server means; keeps the arithmetic in range.
constexpr double longest_wait_s = 30.0 * 24 * 3600;

// How the names of headers begin that tell of a server's limits.
constexpr std::string_view openai_limits = "x-ratelimit-";
constexpr std::string_view anthropic_limits = "anthropic-ratelimit-";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = wrong == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

std::optional<milliseconds> wait_of(double seconds) {
  return milliseconds(std::llround(std::ceil(std::min(seconds, longest_wait_s) * 1000)));
}

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  const auto part = text.substr(at, count);
  const auto [end, wrong] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (wrong != std::errc() || end != part.data() + part.size()) return std::nullopt;
  return value;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that RFC 9110 lets a server write.
std::optional<system_clock::time_point> http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto* month = std::ranges::find(months, text.substr(8, 3));
  const auto day = digits(text, 5, 2);
  const auto year = digits(text, 12, 4);
  const auto hour = digits(text, 17, 2);
  const auto minute = digits(text, 20, 2);
  const auto second = digits(text, 23, 2);
  if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date(
      std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

/// "6m0s", "1h2m", "20ms", "8.64s", and plain seconds.
std::optional<duration> span(std::string_view text) {
  if (const auto seconds = number(text)) return wait_of(*seconds);
  double total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    const auto amount = number(text.substr(0, digits));
    const auto end = std::min(text.find_first_of("0123456789.", digits), text.size());
    const auto unit = text.substr(digits, end - digits);
    const double seconds = unit == "ms" ? 1e-3 : unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : -1;
    if (!amount || seconds < 0) return std::nullopt;
    total += *amount * seconds;
    text.remove_prefix(end);
  }
  return wait_of(total);
}

/// "2026-11-29T21:58:28Z", with or without a fraction, in UTC.
std::optional<system_clock::time_point> rfc3339(std::string_view text) {
  if (text.size() < 20 || text[4] != '-' || text[10] != 'T' || text.back() != 'Z') return std::nullopt;
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = number(text.substr(17, text.size() - 18));
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::duration_cast<system_clock::duration>(std::chrono::duration<double>(*second));
}

std::optional<duration> until(std::string_view text, system_clock::time_point now) {
  const auto then = rfc3339(text);
  if (!then) return span(text);
  return std::max(duration::zero(), std::chrono::duration_cast<duration>(*then - now));
}

std::optional<std::uint64_t> count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool names_a_limit(std::string_view header) {
  return ascii::equal_without_case(header.substr(0, openai_limits.size()), openai_limits) ||
         ascii::equal_without_case(header.substr(0, anthropic_limits.size()), anthropic_limits);
}

rate_window window(const net::http_head& head, const std::array<std::string, 3>& names,
                   system_clock::time_point now) {
  return {count(trimmed(head.header(names[0]))), count(trimmed(head.header(names[1]))),
          until(trimmed(head.header(names[2])), now)};
}

rate_window window_of(const net::http_head& head, const std::string& what, system_clock::time_point now) {
  const std::string after(openai_limits);
  const auto found =
      window(head, {after + "limit-" + what, after + "remaining-" + what, after + "reset-" + what}, now);
  if (found != rate_window{}) return found;
  const std::string before = std::string(anthropic_limits) + what;
  return window(head, {before + "-limit", before + "-remaining", before + "-reset"}, now);
}

std::optional<milliseconds> reset_of_used_up(const rate_report& limits) {
  std::optional<duration> longest;
  for (const auto& one : {limits.requests, limits.tokens}) {
    if (one.remaining == 0 && one.resets_in)
      longest = std::max(longest.value_or(*one.resets_in), *one.resets_in);
  }
  if (!longest) return std::nullopt;
  return std::chrono::ceil<milliseconds>(*longest);
}

}  // namespace

std::optional<milliseconds> retry_after(const net::http_head& head, system_clock::time_point now) {
  if (const auto ms = number(trimmed(head.header("retry-after-ms")))) return wait_of(*ms / 1000);
  const auto text = trimmed(head.header("retry-after"));
  if (const auto seconds = number(text)) return wait_of(*seconds);
  if (const auto date = http_date(text)) {
    return wait_of(std::max(0.0, std::chrono::duration<double>(*date - now).count()));
  }
  return std::nullopt;
}

bool tells_a_limit(const net::http_head& head) {
  return std::ranges::any_of(head.headers, [](const auto& one) { return names_a_limit(one.first); });
}

std::optional<rate_report> read_rate_report(const net::http_head& head, system_clock::time_point now) {
  if (!tells_a_limit(head)) return std::nullopt;
  const rate_report found{window_of(head, "requests", now), window_of(head, "tokens", now)};
  if (found == rate_report{}) return std::nullopt;
  return found;
}

void take_advice(error& refusal, const net::http_head& head, system_clock::time_point now) {
  refusal.retry_after = retry_after(head, now);
  if (!refusal.retry_after && refusal.code == errc::rate_limited) {
    if (const auto limits = read_rate_report(head, now)) refusal.retry_after = reset_of_used_up(*limits);
  }
  const auto word = trimmed(head.header("x-should-retry"));
  if (word == "true" || word == "false") refusal.should_retry = word == "true";
}

}  // namespace evalcore::backend
