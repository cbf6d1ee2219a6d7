#include <evalcore/pool/patience.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <utility>

#include "pool/backoff.hpp"
#include "pool/longest_wait.hpp"

namespace evalcore::pool {
namespace {

using namespace std::chrono_literals;

constexpr duration for_a_wrong_url = 5s;

bool says_busy(errc code) {
  return code == errc::rate_limited || code == errc::overloaded || code == errc::backend_fault;
}

std::string one_decimal(duration span) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", seconds(span));
  return text;
}

}  // namespace

std::optional<duration> wait_to_ask_again(const retry_options& how, error& why, std::uint32_t failures,
                                          duration since, double unit) {
  if (!why.should_retry.value_or(retryable(why.code))) return std::nullopt;
  if (end_for_too_long_a_wait(why, how)) return std::nullopt;
  auto wait = backoff(how, failures, unit);
  if (why.retry_after) wait = std::max(wait, std::chrono::duration_cast<duration>(*why.retry_after));
  const bool enough = failures > how.retries || (!says_busy(why.code) && since + wait > for_a_wrong_url);
  if (!enough) return wait;
  if (failures > 1) why.message += " (" + std::to_string(failures) + " attempts)";
  return std::nullopt;
}

backend::ask_again patient(const retry_options& how, std::function<void(const std::string&)> note) {
  const auto random = std::make_shared<std::mt19937_64>(std::random_device{}());
  return [how, random, note = std::move(note)](error& why, std::uint32_t failures, duration since) {
    const double unit = std::uniform_real_distribution<double>(0, 1)(*random);
    const auto wait = wait_to_ask_again(how, why, failures, since, unit);
    if (wait) note("asking again in " + one_decimal(*wait) + " s: " + why.message);
    return wait;
  };
}

}  // namespace evalcore::pool
