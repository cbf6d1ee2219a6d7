#include "backend/endpoint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace evalcore::backend {
namespace {

using std::chrono::milliseconds;

// Longer than any server means; keeps the arithmetic in range.
constexpr double longest_wait_s = 30.0 * 24 * 3600;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc() || end != text.data() + text.size() || !(value >= 0)) return std::nullopt;
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
std::optional<std::chrono::system_clock::time_point> http_date(std::string_view text) {
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

}  // namespace

net::http_request endpoint::get(std::string_view path) const {
  net::http_request request;
  request.method = "GET";
  request.target = at.path + std::string(path);
  request.headers.emplace_back("Accept", "application/json");
  request.headers.insert(request.headers.end(), headers.begin(), headers.end());
  if (opened) opened->sign(request);
  return request;
}

net::http_request endpoint::post(std::string_view path, std::string body) const {
  net::http_request request;
  request.target = at.path + std::string(path);
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  request.headers.insert(request.headers.end(), headers.begin(), headers.end());
  if (opened) opened->sign(request);
  request.body = std::move(body);
  return request;
}

error endpoint::without_secrets(error failure) const {
  return opened ? opened->without_secrets(std::move(failure)) : failure;
}

std::string endpoint::without_secrets(std::string said) const {
  error carrier;
  carrier.message = std::move(said);
  return without_secrets(std::move(carrier)).message;
}

result<endpoint> read_endpoint(std::string_view base_url) {
  auto url = net::parse_url(base_url);
  if (!url) return url.error();
  if (!url->query.empty()) {
    return fail(errc::invalid_argument, stage::config,
                "the base URL " + url->origin() + url->path + " must not have a query");
  }
  if (url->path.ends_with("/v1")) url->path.resize(url->path.size() - 3);
  return endpoint{.at = *std::move(url)};
}

std::optional<milliseconds> retry_after(const net::http_head& head,
                                        std::chrono::system_clock::time_point now) {
  if (const auto ms = number(trimmed(head.header("retry-after-ms")))) return wait_of(*ms / 1000);
  const auto text = trimmed(head.header("retry-after"));
  if (const auto seconds = number(text)) return wait_of(*seconds);
  if (const auto date = http_date(text)) {
    return wait_of(std::max(0.0, std::chrono::duration<double>(*date - now).count()));
  }
  return std::nullopt;
}

}  // namespace evalcore::backend
