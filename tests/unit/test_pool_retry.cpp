#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "pool/backoff.hpp"
#include "pool_bench.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

error busy(std::chrono::milliseconds wait) {
  auto why = fail(errc::rate_limited, stage::body, "too many requests");
  why.retry_after = wait;
  return why;
}

/// One request at a time, so that what happens is what happens to it.
pool::options alone() {
  pool::options how;
  how.max_in_flight = 1;
  return how;
}

}  // namespace

TEST_CASE("delays double from half a second to eight, less up to a quarter") {
  // By hand: min(0.5 · 2ⁿ⁻¹, 8) seconds, and three quarters of it.
  const double longest[] = {0.5, 1, 2, 4, 8, 8, 8};
  for (std::uint32_t retry = 1; retry <= 7; ++retry) {
    CHECK(seconds(pool::backoff({}, retry, 0)) == doctest::Approx(longest[retry - 1]));
    CHECK(seconds(pool::backoff({}, retry, 1)) == doctest::Approx(0.75 * longest[retry - 1]));
  }
}

TEST_CASE("a delay never overflows, however many retries a user allows") {
  CHECK(pool::backoff({}, 1'100, 0) == 8s);
  CHECK(pool::backoff({}, 4'294'967'295U, 0) == 8s);
}

TEST_CASE("of 5000 retries the 1100th waits as long as the fifth: eight seconds at most") {
  auto how = alone();
  how.retry.retries = 5'000;
  how.breaker.failures = 1'000'000;
  CHECK(pool::backoff(how.retry, 1'100, 0) == 8s);
  pool_bench b(how);
  b.pull(1);
  b.machine.drain();
  for (int retry = 1; retry <= 1'100; ++retry) {
    const auto before = b.now;
    REQUIRE(b.fail(1, errc::transport));
    std::string what;
    while ((what = b.step()) == "-") REQUIRE(b.sleep());
    REQUIRE(what == "start 1 again");
    if (retry < 5) continue;
    CHECK(b.now - before <= 8s);
    CHECK(b.now - before >= 6s);
  }
}

TEST_CASE("a failure of a passing kind is sent again, up to eight attempts, and then ends with its reason") {
  for (const auto code : {errc::rate_limited, errc::overloaded, errc::transport, errc::timeout,
                          errc::truncated, errc::bad_reply, errc::backend_fault}) {
    auto how = alone();
    how.breaker.failures = 100;
    pool_bench b(how);
    b.pull(1);
    b.machine.drain();
    std::vector<double> gaps;
    for (int attempt = 2; attempt <= 8; ++attempt) {
      const auto before = b.now;
      REQUIRE(b.fail(1, code));
      REQUIRE(b.step() == "-");
      while (b.step() == "-") REQUIRE(b.sleep());
      gaps.push_back(seconds(b.now - before));
    }
    CHECK_FALSE(b.fail(1, code));
    CHECK(b.last.code == code);
    CHECK(b.last.message == "it failed (8 attempts)");
    CHECK(b.step() == "drained");
    const double longest[] = {0.5, 1, 2, 4, 8, 8, 8};
    for (std::size_t n = 0; n < gaps.size(); ++n) {
      CHECK(gaps[n] <= longest[n] + 1e-9);
      CHECK(gaps[n] >= 0.75 * longest[n]);
    }
  }
}

TEST_CASE("what would fail again is sent once") {
  for (const auto code : {errc::invalid_request, errc::context_overflow, errc::auth, errc::quota,
                          errc::refused_content, errc::unsupported, errc::invalid_argument}) {
    pool_bench b(alone());
    b.pull(1);
    CHECK_FALSE(b.fail(1, code));
    CHECK(b.last.message == "it failed");
    b.exhaust();
    CHECK(b.step() == "drained");
  }
}

TEST_CASE("the server's own word on retries wins over the code") {
  pool_bench b(alone());
  b.pull(1);
  auto why = fail(errc::overloaded, stage::body, "no");
  why.should_retry = false;
  CHECK_FALSE(b.fail(1, why));
  b.pull(2);
  why = fail(errc::invalid_request, stage::body, "conflict");
  why.should_retry = true;
  CHECK(b.fail(2, why));
}

TEST_CASE("nothing goes to an endpoint before the time that it asked for") {
  pool::options how;
  how.max_in_flight = 3;
  for (how.seed = 0; how.seed < 200; ++how.seed) {
    pool_bench b(how);
    b.pull(1);
    b.pull(2);
    b.now += 1s;
    CHECK(b.fail(1, busy(20s)));
    // A later answer that asks for less does not shorten it.
    b.now += 1s;
    CHECK(b.fail(2, busy(1s)));
    CHECK(b.step() == "-");
    while (b.step() == "-") REQUIRE(b.sleep());
    CHECK(b.elapsed() >= 21.0);
    CHECK(b.elapsed() <= 22.0 + 1e-9);  // At most a second of jitter, added.
  }
}

TEST_CASE("over ten thousand draws no request is sent within a wait that its endpoint asked for") {
  std::mt19937_64 random(11);
  pool::options how;
  how.max_in_flight = 8;
  how.breaker.failures = 1'000'000;
  pool_bench b(how);
  instant closed_until = b.now;
  std::set<pool::item_id> out;
  pool::item_id next = 0;
  int draws = 0;
  while (draws < 10'000) {
    const auto what = b.machine.step(b.now);
    if (!what) {
      if (!out.empty() && random() % 2 == 0) {
        const auto id = *out.begin();
        out.erase(id);
        b.now += std::chrono::milliseconds(random() % 50);
        if (random() % 2 == 0) {
          const auto wait = std::chrono::milliseconds(random() % 3'000);
          closed_until = std::max(closed_until, b.now + wait);
          b.fail(id, busy(wait));
          ++draws;
        } else {
          b.answer(id);
        }
      } else if (!b.sleep()) {
        b.now += 1ms;
      }
    } else if (std::holds_alternative<pool::ask_source>(*what)) {
      b.give(next++);
    } else if (const auto* start = std::get_if<pool::start_attempt>(&*what)) {
      REQUIRE(b.now >= closed_until);
      out.insert(start->id);
    }
  }
  CHECK(next > 1'000);
}

TEST_CASE("a wait beyond the longest ends the item at once, as quota, and sends nothing more there") {
  pool_bench b(alone());
  b.pull(1);
  CHECK_FALSE(b.fail(1, busy(10'800s)));
  CHECK(b.last.code == errc::quota);
  CHECK(b.last.message ==
        "too many requests; the server asks to wait 10800 s, longer than the longest wait of 120 s");
  CHECK(b.step() ==
        "drained: no endpoint can be used any more; the last failure: too many requests; the server "
        "asks to wait 10800 s, longer than the longest wait of 120 s");
}

TEST_CASE("a wait of exactly the longest is obeyed") {
  pool_bench b(alone());
  b.pull(1);
  CHECK(b.fail(1, busy(120s)));
  while (b.step() == "-") REQUIRE(b.sleep());
  CHECK(b.elapsed() >= 120.0);
}

TEST_CASE(
    "retries that fail again are bounded by a fifth of the requests and two a second; none is dropped") {
  pool::options how;
  how.max_in_flight = 50;
  how.breaker.failures = 1'000'000;
  how.retry.retries = 3;
  pool_bench b(how);
  for (pool::item_id id = 0; id < 50; ++id) b.pull(id);
  for (pool::item_id id = 0; id < 50; ++id) CHECK(b.fail(id, errc::backend_fault));
  int retries = 0;
  int over = 0;
  while (over < 50) {
    const auto what = b.machine.step(b.now);
    if (!what) {
      REQUIRE(b.sleep());
      // 50 requests deposit 10, the ten seconds before the start 20, and each second since then 2.
      CHECK(retries <= 10 + 20 + 2 * static_cast<int>(b.elapsed()));
      continue;
    }
    if (std::holds_alternative<pool::ask_source>(*what)) {
      b.machine.source_exhausted();
    } else if (const auto* start = std::get_if<pool::start_attempt>(&*what)) {
      ++retries;
      over += b.fail(start->id, errc::backend_fault) ? 0 : 1;
    }
  }
  CHECK(retries == 150);
  CHECK(b.step() == "drained");
}

TEST_CASE(
    "a retry that is answered costs no budget, so a server that drops every third request is used in full") {
  pool::options how;
  how.max_in_flight = 4;
  pool_bench b(how);
  std::set<pool::item_id> out;
  int answered = 0;
  int sent = 0;
  pool::item_id next = 0;
  while (answered < 3'000) {
    const auto what = b.machine.step(b.now);
    if (!what) {
      if (out.empty()) {
        REQUIRE(b.sleep());
        continue;
      }
      const auto id = *out.begin();
      out.erase(id);
      b.now += 10ms;
      if (++sent % 3 == 0) {
        b.fail(id, errc::truncated);
      } else {
        b.answer(id);
        ++answered;
      }
    } else if (std::holds_alternative<pool::ask_source>(*what)) {
      b.give(next++);
    } else if (const auto* start = std::get_if<pool::start_attempt>(&*what)) {
      out.insert(start->id);
    }
  }
  // 4,500 requests of 10 ms each, one after the other: 45 s, and next to nothing of waiting.
  CHECK(b.elapsed() < 50);
}

TEST_CASE("the first failures of a run are sent again after their delay alone") {
  pool::options how;
  how.max_in_flight = 64;
  how.breaker.failures = 1'000'000;
  pool_bench b(how);
  for (pool::item_id id = 0; id < 64; ++id) b.pull(id);
  // A server that drops a third of the first requests: 21, which 64 · 0.2 = 12.8 alone would not pay.
  int sent_again = 0;
  for (pool::item_id id = 0; id < 63; id += 3) CHECK(b.fail(id, errc::transport));
  while (sent_again < 21) {
    const auto what = b.step();
    if (what == "-") {
      REQUIRE(b.sleep());
    } else if (what == "ask") {
      b.machine.source_exhausted();
    } else {
      REQUIRE(what.starts_with("start"));
      ++sent_again;
    }
  }
  CHECK(b.elapsed() <= 0.5);
}

TEST_CASE("more failed items than were allowed end the run; what is out goes on") {
  pool::options how;
  how.max_in_flight = 2;
  how.max_errors = 1;
  pool_bench b(how);
  b.pull(1);
  b.pull(2);
  CHECK_FALSE(b.fail(1, errc::invalid_request));
  b.pull(3);
  CHECK_FALSE(b.fail(3, errc::invalid_request));
  CHECK(b.step() == "-");
  b.answer(2);
  CHECK(b.step() == "drained: more than 1 items failed; the last: it failed");
}

TEST_CASE("the total deadline holds over all attempts of an item, also while it waits") {
  pool::options how = alone();
  how.total_deadline = 3s;
  pool_bench b(how);
  b.pull(1);
  b.machine.drain();
  b.now += 2500ms;
  CHECK(b.fail(1, busy(20s)));
  std::string what;
  while ((what = b.step()) == "-") REQUIRE(b.sleep());
  CHECK(b.elapsed() == doctest::Approx(3.0));
  CHECK(what == "end 1 timeout");
  CHECK(b.step() == "drained");
}

TEST_CASE("after the time limit nothing is sent; what waited ends with its own failure") {
  pool::options how;
  how.max_in_flight = 3;
  how.time_limit = 2s;
  pool_bench b(how);
  for (pool::item_id id = 0; id < 3; ++id) b.pull(id);
  b.now += 100ms;
  CHECK(b.fail(2, busy(20s)));
  CHECK(b.fail(1, errc::transport));
  CHECK(b.step() == "-");
  while (b.elapsed() < 2) REQUIRE(b.sleep());
  const std::set<std::string> ends = {b.step(), b.step()};
  CHECK(ends == std::set<std::string>{"end 1 transport", "end 2 rate_limited"});
  CHECK(b.step() == "-");
  b.answer(0);
  CHECK(b.step() == "drained: the time limit of 2 s is over");
}

TEST_CASE(
    "an open loop at 100 a second over a slow server sends 200 requests in two seconds, and none after") {
  pool::options how;
  how.max_in_flight = 1'000;
  how.time_limit = 2s;
  how.dispatch_rate = 100;
  pool_bench b(how);
  pool::item_id next = 0;
  pool::item_id sent = 0;
  while (b.sleep() || next == 0) {
    std::string what;
    while ((what = b.step()) != "-") {
      if (what == "ask") {
        b.give(next++);
      } else if (what.starts_with("start")) {
        CHECK(b.elapsed() < 2);
        ++sent;
      } else {
        CHECK(what == "end 200 cancelled");  // It was to go out at two seconds.
      }
    }
  }
  CHECK(sent == 200);
  // The answers come after five seconds; they are taken and nothing follows them.
  b.now = b.start + 5s;
  for (pool::item_id id = 0; id < 200; ++id) {
    CHECK(b.step() == "-");
    b.answer(id);
  }
  CHECK(b.step() == "drained: the time limit of 2 s is over");
}

TEST_CASE(
    "an open loop sends the k-th item at k over the rate, an exact number, and does not wait at its end") {
  for (int repeat = 0; repeat < 50; ++repeat) {
    pool::options how;
    how.max_in_flight = 1'000;
    how.dispatch_rate = 200;
    how.seed = static_cast<std::uint64_t>(repeat);
    pool_bench b(how);
    pool::item_id next = 0;
    std::vector<double> sent;
    while (true) {
      const auto what = b.step();
      if (what == "ask") {
        if (next == 500) {
          b.machine.source_exhausted();
          break;
        }
        b.give(next++);
      } else if (what == "-") {
        REQUIRE(b.sleep());
      } else {
        REQUIRE(what == "start " + std::to_string(sent.size()));
        sent.push_back(b.elapsed());
      }
    }
    CHECK(next == 500);
    CHECK(sent.size() == 500);
    for (std::size_t n = 0; n < sent.size(); ++n) {
      CHECK(sent[n] == doctest::Approx(static_cast<double>(n) / 200).epsilon(1e-6));
    }
    for (pool::item_id id = 0; id < 500; ++id) b.answer(id);
    CHECK(b.step() == "drained");
    CHECK(b.elapsed() == doctest::Approx(499.0 / 200));
  }
}

TEST_CASE("requests and tokens stay within what a minute may hold") {
  pool::options how;
  how.max_in_flight = 1'000;
  how.rate.requests_per_minute = 120;
  how.rate.tokens_per_minute = 6'000;
  pool_bench b(how);
  std::vector<double> sent;
  pool::item_id next = 0;
  while (b.elapsed() < 300) {
    const auto what = b.step();
    if (what == "ask") {
      b.give(next++, 0, 100);
    } else if (what.starts_with("start")) {
      sent.push_back(b.elapsed());
      b.answer(next - 1);
    } else {
      REQUIRE(b.sleep());
    }
  }
  // 6,000 tokens a minute at 100 each: 60 requests, the tighter of the two.
  for (const double from : sent) {
    const auto in_minute =
        std::ranges::count_if(sent, [&](double at) { return at >= from && at < from + 60 - 1e-6; });
    CHECK(in_minute <= 60);
  }
  CHECK(sent.size() >= 300);
}

TEST_CASE("a server that says it has no room left is sent nothing until it has") {
  pool::options how;
  how.max_in_flight = 4;
  pool_bench b(how);
  b.pull(1);
  b.machine.reported(1, {.requests = {.limit = 60, .remaining = 0, .resets_in = 30s}, .tokens = {}}, b.now);
  CHECK(b.step() == "-");
  CHECK(b.sleep());
  CHECK(b.elapsed() == doctest::Approx(1.0));  // One of 60 a minute.
  CHECK(b.step() == "ask");
}

TEST_CASE("a 429 for the minute's quota says nothing about how many at once, one without does") {
  for (const bool quota : {true, false}) {
    CAPTURE(quota);
    pool_bench b({.adaptive = true});
    b.pull(1);
    b.pull(2);
    REQUIRE(b.machine.endpoints()[0].limit() == 2);
    if (quota) {
      b.machine.reported(2, {.requests = {.limit = 60, .remaining = 0, .resets_in = 30s}, .tokens = {}},
                         b.now);
    }
    CHECK(b.fail(2, errc::rate_limited));
    CHECK(b.machine.endpoints()[0].limit() == (quota ? 2 : 1));
  }
}
