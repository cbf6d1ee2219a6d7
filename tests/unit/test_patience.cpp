#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/pool/patience.hpp>

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

evalcore::error failed(errc code) { return evalcore::fail(code, stage::start, "no model list"); }

/// The waits for a question that always fails with `why` after `takes`, and then `why` as it ended.
std::pair<std::vector<double>, error> waits_of(const error& why, duration takes,
                                               const pool::retry_options& how = {}) {
  std::vector<double> waits;
  duration since = takes;
  for (std::uint32_t failures = 1;; ++failures) {
    auto last = why;
    const auto wait = pool::wait_to_ask_again(how, last, failures, since, 0);
    if (!wait) return {waits, last};
    waits.push_back(seconds(*wait));
    since += *wait + takes;
  }
}

}  // namespace

TEST_CASE("a server that is busy before a run is asked as often as a request would be sent") {
  for (const auto code : {errc::rate_limited, errc::overloaded, errc::backend_fault}) {
    const auto [waits, why] = waits_of(failed(code), 10ms);
    CHECK(waits == std::vector<double>{0.5, 1, 2, 4, 8, 8, 8});
    CHECK(why.code == code);
    CHECK(why.message == "no model list (8 attempts)");
  }
  pool::retry_options once;
  once.retries = 1;
  CHECK(waits_of(failed(errc::overloaded), 10ms, once).first == std::vector<double>{0.5});
}

TEST_CASE("a server that cannot be reached before a run has five seconds") {
  for (const auto code : {errc::transport, errc::timeout, errc::truncated, errc::bad_reply}) {
    // The next would be four seconds, beyond the five.
    CHECK(waits_of(failed(code), 1ms).first == std::vector<double>{0.5, 1, 2});
  }
  // Silence until the connect deadline took all of it.
  CHECK(waits_of(failed(errc::timeout), 5s).first.empty());
}

TEST_CASE("what would fail again ends at once before a run, too") {
  for (const auto code : {errc::auth, errc::quota, errc::invalid_request, errc::not_found,
                          errc::invalid_argument, errc::cancelled, errc::unsupported}) {
    const auto [waits, why] = waits_of(failed(code), 1ms);
    CHECK(waits.empty());
    CHECK(why.message == "no model list");
  }
}

TEST_CASE("before a run a server's wait is obeyed up to the longest, and its word on retries wins") {
  auto busy = failed(errc::rate_limited);
  busy.retry_after = 120s;
  CHECK(waits_of(busy, 1ms).first == std::vector<double>(7, 120));
  busy.retry_after = 10ms;  // Less than the delay that would be.
  CHECK(waits_of(busy, 1ms).first.front() == 0.5);
  busy.retry_after = 121s;
  const auto [waits, why] = waits_of(busy, 1ms);
  CHECK(waits.empty());
  CHECK(why.code == errc::quota);
  CHECK(why.message == "no model list; the server asks to wait 121 s, longer than the longest wait of 120 s");
  auto refused = failed(errc::overloaded);
  refused.should_retry = false;
  CHECK(waits_of(refused, 1ms).first.empty());
}
