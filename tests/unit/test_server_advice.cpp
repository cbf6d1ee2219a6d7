#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "backend/server_advice.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

// 1994-11-06 08:49:07 UTC, half a minute before the example date of RFC 9110.
constexpr std::chrono::system_clock::time_point now(784111747s);

net::http_head head(std::vector<std::pair<std::string, std::string>> headers) {
  net::http_head made;
  made.status = 429;
  made.headers = std::move(headers);
  return made;
}

std::optional<std::chrono::milliseconds> wait_for(std::vector<std::pair<std::string, std::string>> headers) {
  return backend::retry_after(head(std::move(headers)), now);
}

error advised(errc code, std::vector<std::pair<std::string, std::string>> headers) {
  auto why = fail(code, stage::body, "no");
  backend::take_advice(why, head(std::move(headers)), now);
  return why;
}

}  // namespace

TEST_CASE("retry-after is read in each of its forms") {
  CHECK(wait_for({{"Retry-After", "7"}}) == 7s);
  CHECK(wait_for({{"Retry-After", "0"}}) == 0s);
  CHECK(wait_for({{"retry-after", "1.5"}}) == 1500ms);
  CHECK(wait_for({{"retry-after", "7"}, {"retry-after-ms", "250"}}) == 250ms);
  CHECK(wait_for({{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"}}) == 30s);
  CHECK(wait_for({{"Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT"}}) == 0s);
  CHECK_FALSE(wait_for({}));
  for (const char* odd : {"soon", "-1", "nan", "inf", "7 s", "Sun, 06 Foo 1994 08:49:37 GMT",
                          "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT"}) {
    CHECK_MESSAGE(!wait_for({{"Retry-After", odd}}), odd);
  }
  CHECK(wait_for({{"Retry-After", "1e300"}}) == 30 * 24h);
  CHECK(wait_for({{"Retry-After", std::string(35, '9')}}) == 30 * 24h);
}

TEST_CASE("what is left of a server's limits is read from OpenAI's headers") {
  const auto read = backend::read_rate_report(head({{"x-ratelimit-limit-requests", "60"},
                                                    {"x-ratelimit-remaining-requests", "59"},
                                                    {"x-ratelimit-reset-requests", "1s"},
                                                    {"x-ratelimit-limit-tokens", "150000"},
                                                    {"x-ratelimit-remaining-tokens", "149984"},
                                                    {"x-ratelimit-reset-tokens", "6m0s"}}),
                                              now);
  REQUIRE(read);
  CHECK(*read == backend::rate_report{.requests = {60, 59, 1s}, .tokens = {150'000, 149'984, 6min}});
}

TEST_CASE("what is left of a server's limits is read from Anthropic's headers") {
  const auto read =
      backend::read_rate_report(head({{"anthropic-ratelimit-requests-limit", "50"},
                                      {"anthropic-ratelimit-requests-remaining", "0"},
                                      {"anthropic-ratelimit-requests-reset", "1994-11-06T08:49:37Z"},
                                      {"anthropic-ratelimit-tokens-remaining", "12"},
                                      {"anthropic-ratelimit-tokens-reset", "1994-11-06T08:48:00.5Z"}}),
                                now);
  REQUIRE(read);
  CHECK(*read == backend::rate_report{.requests = {50, 0, 30s}, .tokens = {std::nullopt, 12, 0s}});
}

TEST_CASE("spans until a reset are read in each of their forms, and nothing else is") {
  const auto reset = [](const char* text) {
    const auto read = backend::read_rate_report(head({{"x-ratelimit-reset-tokens", text}}), now);
    return read ? read->tokens.resets_in : std::nullopt;
  };
  CHECK(reset("20ms") == 20ms);
  CHECK(reset("8.64s") == 8640ms);
  CHECK(reset("1h2m3s") == 3723s);
  CHECK(reset("59") == 59s);
  for (const char* odd : {"", "soon", "1d", "s", "5x3s", "1994-11-06 08:49:37", "1994-13-06T08:49:37Z"}) {
    CHECK_MESSAGE(!reset(odd), odd);
  }
  CHECK_FALSE(backend::read_rate_report(head({{"Content-Type", "application/json"}}), now));
}

TEST_CASE("a refusal for too many requests waits for the reset of what is used up") {
  CHECK(advised(errc::rate_limited,
                {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "9s"}})
            .retry_after == 9s);
  CHECK(advised(errc::rate_limited, {{"Retry-After", "2"},
                                     {"x-ratelimit-remaining-requests", "0"},
                                     {"x-ratelimit-reset-requests", "9s"}})
            .retry_after == 2s);
  CHECK_FALSE(advised(errc::rate_limited,
                      {{"x-ratelimit-remaining-requests", "5"}, {"x-ratelimit-reset-requests", "9s"}})
                  .retry_after);
  CHECK_FALSE(advised(errc::invalid_request,
                      {{"x-ratelimit-remaining-requests", "0"}, {"x-ratelimit-reset-requests", "9s"}})
                  .retry_after);
}

TEST_CASE("a server's own word on retries is taken") {
  CHECK(advised(errc::overloaded, {{"x-should-retry", "false"}}).should_retry == false);
  CHECK(advised(errc::invalid_request, {{"X-Should-Retry", "true"}}).should_retry == true);
  CHECK_FALSE(advised(errc::overloaded, {{"x-should-retry", "maybe"}}).should_retry);
}
