#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include <evalcore/pool/token_bound.hpp>

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

constexpr double answer_tokens = 50;
constexpr double no_end = std::numeric_limits<double>::infinity();

/// A server that generates `speed` tokens a second for each request, and 0.3 of that while it holds more than
/// `room` tokens, before it a client that keeps `most` requests of `prompt` tokens in flight as far as the
/// bound allows. A request holds its prompt and its answer from the start.
struct toy {
  pool::token_bound tokens = {};
  instant now{};
  double room = no_end;
  double speed = 50;
  std::size_t most = 16;
  std::uint64_t prompt = 450;
  double jitter = 0;  // Every other answer is told as taking so much longer, the others so much shorter.

  struct request {
    double ends_at;  // Of done.
    double counts;
    std::uint64_t prompt;
    instant sent;
  };
  std::deque<request> out = {};
  double done = 0;  // Tokens, of a request that is always there.
  std::uint64_t ended = 0;
  std::uint64_t lowered = 0;
  double overfull = 0;  // Seconds.

  [[nodiscard]] double held() const {
    double sum = 0;
    for (const auto& one : out) sum += static_cast<double>(one.prompt) + answer_tokens;
    return sum;
  }

  void run(duration span) {
    constexpr auto tick = 10ms;
    for (const auto until = now + span; now < until; now += tick) {
      const bool full = held() > room;
      if (full) overfull += seconds(tick);
      done += (full ? 0.3 : 1) * speed * seconds(tick);
      while (!out.empty() && out.front().ends_at <= done) end_oldest();
      if (out.size() < most && tokens.has_room()) send();  // One in a tick, so that they end one by one.
    }
  }

  void send() {
    const double counts = tokens.tokens_of(prompt);
    tokens.sent(counts);
    out.push_back({done + answer_tokens, counts, prompt, now});
  }

  void end_oldest() {
    const auto one = out.front();
    const auto in_flight = static_cast<double>(out.size());
    out.pop_front();
    tokens.gone(one.counts, now);
    const double took = seconds(now - one.sent) * (++ended % 2 == 0 ? 1 + jitter : 1 / (1 + jitter));
    const bool lower = tokens.answered({.request_tokens = one.counts,
                                        .tokens = answer_tokens,
                                        .seconds = took,
                                        .in_flight = in_flight,
                                        .began = one.sent},
                                       now);
    if (lower) ++lowered;
  }
};

/// One that knows its bound: 20 requests of 500 tokens fit, it had 16 and then 40.
toy bounded() {
  toy one{.room = 10'000};
  one.run(20s);
  one.most = 40;
  one.run(40s);
  return one;
}

}  // namespace

TEST_CASE("a request counts for its prompt and what answers come to, at least one token") {
  pool::token_bound tokens;
  CHECK(tokens.tokens_of(0) == 1);
  CHECK(tokens.tokens_of(300) == 300);
  toy one;
  one.run(60s);
  CHECK(one.tokens.tokens_of(450) == doctest::Approx(500).epsilon(0.01));
  CHECK(one.tokens.tokens_of(0) == doctest::Approx(50).epsilon(0.01));
}

TEST_CASE("tokens are not bounded while goodput does not break in, however many are in flight") {
  toy one;
  for (one.most = 2; one.most <= 64; one.most *= 2) one.run(10s);
  CHECK_FALSE(one.tokens.bound());
  CHECK(one.out.size() == 64);
}

TEST_CASE("answers that take a fifth longer or shorter at random do not bound") {
  toy one{.most = 6, .jitter = 0.2};
  one.run(20min);
  CHECK_FALSE(one.tokens.bound());
}

TEST_CASE("a goodput that breaks in bounds the tokens to what fits, nearly all of the time") {
  toy one = bounded();
  REQUIRE(one.tokens.bound());
  CHECK(one.lowered > 0);
  one.overfull = 0;
  one.ended = 0;
  one.run(4min);
  CHECK(one.overfull < 0.1 * 240);
  // 20 at once, a second each, would be 4,800.
  CHECK(one.ended > 0.85 * 4800);
  CHECK(one.ended <= 4800);
}

TEST_CASE("the bound is one on tokens: of longer requests fewer go out, of shorter ones more") {
  toy one = bounded();
  one.prompt = 1950;
  one.run(20s);
  CHECK(one.out.size() <= 6);  // 5 fit; the last that goes out may pass the bound.
  CHECK(one.out.size() >= 4);
  one.prompt = 150;
  one.most = 100;
  one.run(20s);
  CHECK(one.out.size() > 40);  // 50 fit.
}

TEST_CASE("what began before the bound was lowered does not lower it again once all is well") {
  toy one = bounded();
  const double level = *one.tokens.bound();
  one.run(10s);
  CHECK(*one.tokens.bound() >= level);
}

TEST_CASE("one request is always allowed, and a cancelled one makes room") {
  toy one = bounded();
  while (!one.out.empty()) {
    one.tokens.gone(one.out.front().counts, one.now);
    one.out.pop_front();
  }
  CHECK(one.tokens.has_room());
  one.tokens.sent(100 * *one.tokens.bound());
  CHECK_FALSE(one.tokens.has_room());
  one.tokens.gone(100 * *one.tokens.bound(), one.now);
  CHECK(one.tokens.has_room());
}

TEST_CASE("a server that suddenly holds a quarter gets a quarter within half a minute") {
  toy one = bounded();
  one.room = 2500;
  one.run(30s);
  CHECK(one.held() <= 3000);
  one.ended = 0;
  one.run(60s);
  CHECK(one.ended > 0.75 * 5 * 60);
}

TEST_CASE(
    "a bound that is not needed any more climbs out of the way, an edge that is known not before a minute") {
  toy one = bounded();
  const double level = *one.tokens.bound();
  one.room = no_end;
  one.run(10s);
  CHECK(*one.tokens.bound() < 1.2 * level);
  one.run(3min);
  CHECK(one.out.size() == 40);
}

TEST_CASE("a bound that is not used is not raised") {
  toy one = bounded();
  one.room = no_end;
  one.most = 5;
  one.run(1s);
  const double level = *one.tokens.bound();
  one.run(10min);
  CHECK(*one.tokens.bound() == level);
}

TEST_CASE("a server that has become slower, whatever is in flight, is not bounded for long") {
  toy one{.most = 20};
  one.run(20s);
  one.speed = 20;
  one.run(4min);
  CHECK(one.out.size() == 20);
}
