#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <set>
#include <string>

#include "pool_bench.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

using bench = pool_bench;

TEST_CASE("the bound is filled, and a place is refilled when its request ends") {
  bench b({.max_in_flight = 2});
  b.pull(7);
  b.pull(8);
  CHECK(b.step() == "-");
  CHECK(b.machine.in_flight() == 2);
  b.machine.first_token(7);
  CHECK(b.step() == "-");
  b.answer(7);
  b.pull(9);
  CHECK(b.step() == "-");
}

TEST_CASE("requests that fail give their places back") {
  pool::options how;
  how.max_in_flight = 2;
  pool_bench b(how);
  b.pull(1);
  b.pull(2);
  CHECK(b.step() == "-");
  CHECK_FALSE(b.fail(1, errc::invalid_request));
  CHECK_FALSE(b.fail(2, errc::invalid_request));
  CHECK(b.machine.in_flight() == 0);
  b.pull(3);
  b.answer(3);
  CHECK(b.machine.endpoints()[0].in_flight() == 0);
  b.pull(4);
  b.pull(5);
  CHECK(b.step() == "-");
}

TEST_CASE("an exhausted source is not asked again; drained comes once, after the last end") {
  bench b({.max_in_flight = 2});
  b.pull(1);
  CHECK(b.step() == "ask");
  b.machine.source_exhausted();
  CHECK(b.step() == "-");
  b.answer(1);
  CHECK(b.step() == "drained");
  CHECK(b.step() == "-");
}

TEST_CASE("an empty source drains at once") {
  bench b({});
  CHECK(b.step() == "ask");
  CHECK(b.step() == "-");  // Not before it has answered.
  b.machine.source_exhausted();
  CHECK(b.step() == "drained");
}

TEST_CASE("a source that holds is asked again after a first token, an end and a share") {
  bench b({.max_in_flight = 4});
  b.pull(1);
  b.pull(2);
  CHECK(b.step() == "ask");
  b.machine.source_holds();
  CHECK(b.step() == "-");
  b.machine.first_token(1);
  CHECK(b.step() == "ask");
  b.machine.source_holds();
  b.machine.first_token(99);  // Not in flight: says nothing.
  CHECK(b.step() == "-");
  b.answer(2);
  CHECK(b.step() == "ask");
  b.machine.pulled_share();
  CHECK(b.step() == "share");
  CHECK(b.step() == "-");
  b.machine.share_ended();
  CHECK(b.step() == "ask");
}

TEST_CASE("a source that holds until some time is asked again then, though nothing happens") {
  bench b({.max_in_flight = 4});
  b.pull(1);
  CHECK(b.step() == "ask");
  const auto until = b.now + 10s;
  b.machine.source_holds(until);
  CHECK(b.step() == "-");
  CHECK(b.machine.next_wake(b.now) == until);
  b.now = until - 1ms;
  CHECK(b.step() == "-");
  b.now = until;
  CHECK(b.step() == "ask");
  b.machine.source_holds();
  CHECK(b.step() == "-");
  CHECK_FALSE(b.machine.next_wake(b.now));

  // Nobody is asked any more once the pool drains.
  b.machine.first_token(1);
  CHECK(b.step() == "ask");
  b.machine.source_holds(b.now + 10s);
  b.machine.drain();
  CHECK_FALSE(b.machine.next_wake(b.now));
}

TEST_CASE("a source that holds can be told when a pause begins and when it is over") {
  bench b({.max_in_flight = 4});
  b.pull(1);
  b.pull(2);
  CHECK(b.step() == "ask");
  b.machine.source_holds();
  CHECK_FALSE(b.machine.paused(b.now));
  auto slow_down = fail(errc::rate_limited, stage::first_byte, "slow down");
  slow_down.retry_after = 20s;
  CHECK(b.fail(1, slow_down));
  CHECK(b.machine.paused(b.now));
  b.machine.cancel(1);  // So that nothing waits, which would want to be sent after the pause.
  CHECK(b.step() == "end 1 cancelled");
  CHECK(b.step() == "-");
  REQUIRE(b.sleep());
  CHECK(b.elapsed() >= 20.0);
  CHECK(b.elapsed() <= 21.0);  // With up to a second of jitter.
  CHECK_FALSE(b.machine.paused(b.now));
}

TEST_CASE("a pause is not want of room, and one endpoint that is open is enough") {
  bench b({.max_in_flight = 1}, 2);
  b.pull(1);
  b.pull(2);
  CHECK_FALSE(b.machine.paused(b.now));
  auto slow_down = fail(errc::rate_limited, stage::first_byte, "slow down");
  slow_down.retry_after = 20s;
  CHECK(b.fail(1, slow_down));
  CHECK_FALSE(b.machine.paused(b.now));
  CHECK(b.fail(2, slow_down));
  CHECK(b.machine.paused(b.now));
}

TEST_CASE("nothing is pulled while a share is under way") {
  bench b({.max_in_flight = 4});
  CHECK(b.step() == "ask");
  b.machine.pulled_share();
  CHECK(b.step() == "share");
  CHECK(b.step() == "-");
  b.machine.drain();
  CHECK(b.step() == "-");
  b.machine.share_ended();
  CHECK(b.step() == "drained");
}

TEST_CASE("a source that holds for ever ends the run") {
  bench b({});
  b.pull(1);
  CHECK(b.step() == "ask");
  b.machine.source_holds();
  b.answer(1);
  CHECK(b.step() == "ask");
  b.machine.source_holds();
  CHECK(b.step() == "drained: the source of requests waits although nothing is in flight");
  CHECK(b.step() == "-");
}

TEST_CASE("a source that has more later is not the end of the run, and is asked when the host says so") {
  bench b({.max_in_flight = 2});
  CHECK(b.step() == "ask");
  b.machine.source_waits();
  CHECK(b.step() == "-");
  CHECK_FALSE(b.machine.next_wake(b.now));
  b.machine.look_again();
  b.pull(1);
  CHECK(b.step() == "ask");
  b.machine.source_waits();
  b.answer(1);
  CHECK(b.step() == "ask");
  b.machine.source_waits();
  CHECK(b.step() == "-");
  b.machine.drain();
  CHECK(b.step() == "drained");
}

TEST_CASE("one item is cancelled, the others go on") {
  pool::options how;
  how.max_in_flight = 2;
  bench b(how);
  b.pull(1);
  b.pull(2);
  CHECK(b.step() == "-");
  b.machine.cancel(1);
  b.machine.cancel(1);
  b.machine.cancel(99);  // Never pulled.
  CHECK(b.step() == "cancel 1 cancelled");
  CHECK(b.step() == "-");
  CHECK_FALSE(b.fail(1, errc::cancelled));
  b.pull(3);
  CHECK(b.fail(2, errc::overloaded));  // It waits for another attempt.
  b.machine.cancel(2);
  CHECK(b.step() == "end 2 cancelled");
  CHECK(b.step() == "ask");
}

TEST_CASE("drain lets what is in flight end") {
  bench b({.max_in_flight = 2});
  b.pull(1);
  b.machine.drain();
  CHECK(b.step() == "-");
  b.answer(1);
  CHECK(b.step() == "drained");
}

TEST_CASE("what was pulled when drain came in between is started; nothing that was handed out is lost") {
  bench b({});
  CHECK(b.step() == "ask");
  b.machine.drain();
  b.give(1);
  CHECK(b.step() == "start 1");
  CHECK(b.step() == "-");
  b.answer(1);
  CHECK(b.step() == "drained");
}

TEST_CASE("cancel_all cancels each request once and waits for the ends") {
  bench b({.max_in_flight = 3, .total_deadline = 10s});
  b.pull(1);
  b.pull(2);
  b.machine.cancel_all();
  b.machine.cancel_all();
  CHECK(b.step() == "cancel 1 cancelled");
  CHECK(b.step() == "cancel 2 cancelled");
  b.now += 20s;
  CHECK(b.step() == "-");
  CHECK_FALSE(b.machine.next_wake(b.now));
  b.answer(2);
  b.answer(1);
  CHECK(b.step() == "drained");
}

TEST_CASE("a request that ends before its cancel goes out is not cancelled") {
  bench b({.max_in_flight = 2});
  b.pull(1);
  b.pull(2);
  b.machine.cancel_all();
  b.answer(1);
  CHECK(b.step() == "cancel 2 cancelled");
  CHECK(b.step() == "-");
}

TEST_CASE("what is pulled after cancel_all is ended and not sent") {
  bench b({});
  CHECK(b.step() == "ask");
  b.machine.cancel_all();
  b.give(5);
  CHECK(b.step() == "end 5 cancelled");
  CHECK(b.step() == "drained");
}

TEST_CASE("cancel_all does not wait for a share") {
  bench b({});
  CHECK(b.step() == "ask");
  b.machine.pulled_share();
  CHECK(b.step() == "share");
  b.machine.cancel_all();
  CHECK(b.step() == "drained");
  b.machine.share_ended();
  CHECK(b.step() == "-");

  bench before({});
  CHECK(before.step() == "ask");
  before.machine.pulled_share();
  before.machine.cancel_all();
  CHECK(before.step() == "drained");
}

TEST_CASE("the total deadline runs from the dispatch of each item") {
  bench b({.max_in_flight = 2, .total_deadline = 10s});
  CHECK_FALSE(b.machine.next_wake(b.now));
  b.pull(1);
  b.now += 4s;
  b.pull(2);
  CHECK(b.machine.next_wake(b.now) == b.start + 10s);
  b.now = b.start + 10s - 1ns;
  CHECK(b.step() == "-");
  b.now = b.start + 10s;
  CHECK(b.step() == "cancel 1 timeout");
  CHECK(b.step() == "-");
  CHECK(b.machine.next_wake(b.now) == b.start + 14s);
  CHECK(b.machine.in_flight() == 2);  // Its place is free when it has ended.
  b.answer(1);
  b.pull(3);
  CHECK(b.machine.next_wake(b.now) == b.start + 14s);
}

TEST_CASE("without a deadline nothing times out") {
  bench b({.max_in_flight = 1});
  b.pull(1);
  b.now += std::chrono::hours(24 * 365);
  CHECK(b.step() == "-");
  CHECK_FALSE(b.machine.next_wake(b.now));
}

TEST_CASE("the bound can be moved, and is never below 1") {
  bench b({.max_in_flight = 0});
  b.pull(1);
  CHECK(b.step() == "-");
  b.machine.set_max_in_flight(3, b.now);
  b.pull(2);
  b.pull(3);
  b.machine.set_max_in_flight(0, b.now);
  b.answer(1);
  b.answer(2);
  CHECK(b.step() == "-");
  b.answer(3);
  b.pull(4);
  CHECK(b.step() == "-");
}

TEST_CASE("at random: never above the bound, each start has one end, drained comes last") {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t bound = 1 + static_cast<std::uint32_t>(random() % 5);
    bench b({.max_in_flight = bound, .total_deadline = 50ms});
    pool::item_id next = 0;
    std::set<pool::item_id> flying;
    std::set<pool::item_id> cancelled;
    bool sharing = false;
    bool drained = false;
    for (int turn = 0; turn < 2000 && !drained; ++turn) {
      const auto what = b.machine.step(b.now);
      if (!what) {
        b.now += std::chrono::milliseconds(random() % 30);
        if (sharing && random() % 2 == 0) {
          sharing = false;
          b.machine.share_ended();
        } else if (!flying.empty()) {
          const auto id = *std::next(flying.begin(), static_cast<std::ptrdiff_t>(random() % flying.size()));
          if (random() % 3 == 0) {
            b.machine.first_token(id);
          } else {
            flying.erase(id);
            b.answer(id);
          }
        }
        if (random() % 60 == 0) b.machine.cancel_all();
      } else if (std::holds_alternative<pool::ask_source>(*what)) {
        REQUIRE(flying.size() < bound);
        REQUIRE_FALSE(sharing);
        const auto roll = random() % 8;
        if (next == 40) {
          b.machine.source_exhausted();
        } else if (roll == 0) {
          b.machine.pulled_share();
        } else if (roll == 1 && !flying.empty()) {
          b.machine.source_holds();
        } else {
          b.give(next++);
        }
      } else if (const auto* go = std::get_if<pool::start_attempt>(&*what)) {
        REQUIRE(flying.insert(go->id).second);
      } else if (std::holds_alternative<pool::start_share>(*what)) {
        sharing = true;
      } else if (const auto* stop = std::get_if<pool::cancel_attempt>(&*what)) {
        REQUIRE(flying.contains(stop->id));
        REQUIRE(cancelled.insert(stop->id).second);
      } else if (const auto* over = std::get_if<pool::end_item>(&*what)) {
        REQUIRE_FALSE(flying.contains(over->id));
      } else {
        REQUIRE(std::holds_alternative<pool::report_drained>(*what));
        REQUIRE(flying.empty());
        drained = true;
      }
    }
    REQUIRE(drained);
    REQUIRE_FALSE(b.machine.step(b.now));
  }
}
