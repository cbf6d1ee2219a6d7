#include "net/keep_alive.hpp"

#include <charconv>
#include <string_view>

#include <evalcore/base/ascii.hpp>

namespace evalcore::net {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view http_head::header(std::string_view name) const noexcept {
  for (const auto& [held, value] : headers) {
    if (ascii::equal_without_case(held, name)) return value;
  }
  return {};
}

std::optional<duration> idle_life(const http_head& head) {
  std::string_view list = head.header("keep-alive");
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos ||
        !ascii::equal_without_case(trimmed(item.substr(0, equals)), "timeout"))
      continue;
    const std::string_view digits = trimmed(item.substr(equals + 1));
    std::uint32_t timeout = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), timeout);
    if (failure != std::errc() || end != digits.data() + digits.size()) continue;
    if (timeout <= 1) return std::nullopt;
    return std::chrono::seconds(timeout - 1);
  }
  return default_idle_life;
}

}  // namespace evalcore::net
