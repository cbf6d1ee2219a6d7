#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include <evalcore/pool/adaptive_limit.hpp>

using namespace evalcore;
using namespace std::chrono_literals;
using pool::limit_reason;
using pool::load_sign;

namespace {

/// A client that keeps as many in flight as it may, of a server that answers each after a second with ten
/// tokens, however many there are.
struct client {
  pool::adaptive_limit limit;
  instant now{};
  std::uint64_t next = 0;
  struct sent_attempt {
    std::uint64_t number;
    instant sent;
  };
  std::deque<sent_attempt> in_flight = {};

  explicit client(pool::limit_bounds bounds = {}) : limit(bounds) {}

  std::uint64_t send() {
    in_flight.push_back({next, now});
    limit.started(next, 0, now);
    return next++;
  }
  void fill() {
    while (in_flight.size() < limit.limit()) send();
  }
  void end_oldest(load_sign sign) {
    const auto one = in_flight.front();
    in_flight.pop_front();
    pool::attempt_report report{.sign = sign, .total = now - one.sent};
    if (sign == load_sign::answered) report.tokens = 10;
    limit.ended(one.number, report, now);
  }
  void end_newest(load_sign sign) {
    std::rotate(in_flight.begin(), in_flight.end() - 1, in_flight.end());
    end_oldest(sign);
  }
  void answer_one() {
    now = std::max(now, in_flight.front().sent + 1s);
    end_oldest(load_sign::answered);
  }
  void run_until(instant end) {
    for (fill(); in_flight.front().sent + 1s <= end; fill()) answer_one();
    now = end;
  }
  void grow_to(std::uint32_t limit_wanted) {
    while (limit.limit() < limit_wanted) {
      fill();
      answer_one();
    }
    fill();
  }
};

}  // namespace

TEST_CASE("goodput is the tokens of a second of one request, times the number in flight") {
  pool::goodput_window window;
  CHECK(window.goodput() == 0);
  window.add({.tokens = 10, .life = 2, .load = 8, .first_token = 0.5});
  window.add({.tokens = 30, .life = 3, .load = 12, .first_token = std::nullopt});
  CHECK(window.speed() == doctest::Approx(8));
  CHECK(window.in_flight() == doctest::Approx(4));
  CHECK(window.goodput() == doctest::Approx(32));
  CHECK(*window.first_token() == doctest::Approx(0.5));

  window.fade(0.5);  // What comes now counts twice as much as what was.
  window.add({.tokens = 20, .life = 1.5, .load = 6, .first_token = std::nullopt});
  CHECK(window.ends() == doctest::Approx(2));
  CHECK(window.speed() == doctest::Approx(10));
}

TEST_CASE("one more goes out for each answer, until twice as many are out") {
  client c;
  CHECK(c.limit.limit() == 2);
  c.fill();
  c.answer_one();
  CHECK(c.limit.limit() == 3);
  c.fill();
  c.answer_one();
  CHECK(c.limit.limit() == 4);
  c.fill();
  c.answer_one();
  CHECK(c.limit.limit() == 4);  // The first round is of five answers: no more before it is over.
  c.run_until(instant{} + 20s);
  CHECK(c.limit.limit() == 256);
}

TEST_CASE("a limit that is not used does not grow") {
  client c({.floor = 1, .start = 4, .ceiling = 64});
  for (int i = 0; i < 100; ++i) {
    c.send();
    c.answer_one();
  }
  CHECK(c.limit.limit() == 4);
}

TEST_CASE("attempts that say nothing, and numbers that are not in flight, change nothing") {
  client c;
  for (int i = 0; i < 50; ++i) {
    c.fill();
    c.end_oldest(load_sign::none);
  }
  c.limit.ended(4711, {.sign = load_sign::rejected}, c.now);
  CHECK(c.limit.limit() == 2);
  CHECK(c.limit.history().size() == 1);
}

TEST_CASE("a rejection cuts to what the server had taken, once for all that were sent before") {
  client c;
  c.grow_to(20);
  c.end_newest(load_sign::rejected);
  CHECK(c.limit.limit() == 19);
  CHECK(c.limit.history().back().why == limit_reason::rejected);
  c.end_newest(load_sign::rejected);
  c.end_oldest(load_sign::rejected);
  CHECK(c.limit.limit() == 19);
}

TEST_CASE("a rejection far below the limit cuts it at most by half, and again for what is sent afterwards") {
  client c;
  c.grow_to(20);
  while (c.in_flight.size() > 2) c.end_oldest(load_sign::none);
  c.send();
  c.end_newest(load_sign::rejected);
  CHECK(c.limit.limit() == 10);
  c.send();
  c.end_newest(load_sign::rejected);
  CHECK(c.limit.limit() == 5);
}

TEST_CASE("the level of a rejection is not passed for thirty seconds, then tried again") {
  client c;
  c.grow_to(20);
  c.end_newest(load_sign::rejected);
  c.run_until(c.now + 29s);
  CHECK(c.limit.limit() == 19);
  c.run_until(c.now + 30s);
  CHECK(c.limit.limit() > 19);
}

TEST_CASE("failures between answers change nothing; failures in a row start again, up to the level before") {
  client c;
  c.grow_to(40);
  for (int i = 0; i < 200; ++i) {
    c.fill();
    i % 2 == 0 ? c.end_oldest(load_sign::failed) : c.answer_one();
  }
  const auto before = c.limit.limit();
  CHECK(before >= 40);

  c.fill();
  for (std::uint32_t i = 0; i < before / 4 - 1; ++i) c.end_oldest(load_sign::failed);
  CHECK(c.limit.limit() == before);
  while (!c.in_flight.empty()) c.end_oldest(load_sign::failed);
  CHECK(c.limit.limit() == 2);
  CHECK(c.limit.history().back().why == limit_reason::collapsed);
  c.run_until(c.now + 60s);
  CHECK(c.limit.limit() == before * 97 / 100);
}

TEST_CASE("failures in a row at the start take half of it") {
  client c({.start = 8, .ceiling = 16});
  c.fill();
  CHECK(c.in_flight.size() == 8);
  while (!c.in_flight.empty()) c.end_oldest(load_sign::failed);
  CHECK(c.limit.limit() == 4);
}

TEST_CASE("what fails before the server has answered again belongs to the same outage") {
  client c;
  c.grow_to(40);
  while (!c.in_flight.empty()) c.end_oldest(load_sign::failed);
  for (int i = 0; i < 30; ++i) {
    c.fill();
    c.end_oldest(load_sign::failed);
  }
  CHECK(c.limit.limit() == 1);
  c.run_until(c.now + 60s);
  CHECK(c.limit.limit() == 38);  // 97 % of 40: the outage did not lower it.
}

TEST_CASE("bounds can be changed while it runs, and are put in order") {
  client c({.floor = 8, .start = 2, .ceiling = 4});
  CHECK(c.limit.limit() == 8);
  c.limit.set_bounds({.floor = 1, .start = 4, .ceiling = 128}, c.now);
  c.grow_to(100);
  c.limit.set_bounds({.floor = 1, .start = 4, .ceiling = 10}, c.now);
  CHECK(c.limit.limit() == 10);
  CHECK(c.limit.history().back().why == limit_reason::bounded);
  c.run_until(c.now + 60s);
  CHECK(c.limit.limit() <= 10);
  c.limit.set_bounds({.floor = 30, .start = 30, .ceiling = 64}, c.now);
  CHECK(c.limit.limit() == 30);
}

TEST_CASE("goodput is counted in answers where tokens are not told") {
  // Eight slots, and what is above them waits: a few wait, although no answer has a count.
  pool::adaptive_limit limit({});
  instant now{};
  std::deque<std::pair<std::uint64_t, instant>> out;
  instant slots_free{};
  for (std::uint64_t i = 0; i < 3000; ++i) {
    while (out.size() < limit.limit()) {
      limit.started(i * 1000 + out.size(), 0, now);
      out.emplace_back(i * 1000 + out.size(), now);
    }
    slots_free =
        std::max(slots_free + 125ms, out.front().second + 1s);  // One answer every eighth of a second.
    now = slots_free;
    const auto [number, sent] = out.front();
    out.pop_front();
    limit.ended(number, {.sign = load_sign::answered, .total = now - sent}, now);
  }
  CHECK(limit.limit() >= 8);
  CHECK(limit.limit() <= 24);
}

TEST_CASE("the history is told once a second while it grows, and is bounded") {
  pool::limit_history history;
  history.note({instant{}, 2, limit_reason::started});
  history.note({instant{} + 1s, 3, limit_reason::grew});
  history.note({instant{} + 1500ms, 4, limit_reason::grew});
  history.note({instant{} + 2s, 5, limit_reason::grew});
  REQUIRE(history.changes().size() == 3);
  CHECK(history.changes()[1].limit == 4);
  CHECK(history.changes()[2].limit == 5);
  history.note({instant{} + 2s, 5, limit_reason::tokens, 4000});
  history.note({instant{} + 2500ms, 5, limit_reason::tokens, 3000});
  REQUIRE(history.changes().size() == 4);
  CHECK(history.changes()[3].tokens == 3000);

  for (int i = 0; i < 100'000; ++i)
    history.note({instant{} + std::chrono::seconds(3 + i), 7, limit_reason::probed});
  CHECK(history.changes().size() <= 1024);
  CHECK(history.changes().front().why == limit_reason::started);
  CHECK(history.changes().back().at == instant{} + std::chrono::seconds(100'002));
  CHECK(std::is_sorted(history.changes().begin(), history.changes().end(),
                       [](const auto& one, const auto& other) { return one.at < other.at; }));
}

TEST_CASE("reasons have names") {
  CHECK(name(limit_reason::started) == "started");
  CHECK(name(limit_reason::found_knee) == "found_knee");
  CHECK(name(limit_reason::tokens) == "tokens");
  CHECK(name(limit_reason::bounded) == "bounded");
}
