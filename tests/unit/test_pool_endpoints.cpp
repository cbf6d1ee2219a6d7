#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <set>

#include "pool_bench.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

error died() {
  auto why = fail(errc::backend_fault, stage::body, "the server died");
  why.server_died = true;
  return why;
}

std::uint32_t endpoint_of(const std::optional<pool::command>& what) {
  REQUIRE(what);
  REQUIRE(std::holds_alternative<pool::start_attempt>(*what));
  return std::get<pool::start_attempt>(*what).endpoint;
}

/// A server that generates 50 tokens a second for each request, and 0.3 of that while it holds more than
/// 10,000 tokens, before it an adaptive pool. Returns the most that it holds in the last 20 of `span`
/// seconds.
std::uint64_t most_tokens_held(std::uint64_t prompt, double span) {
  constexpr std::uint64_t room = 10'000;
  constexpr std::uint64_t answer = 50;
  constexpr auto tick = 10ms;
  pool_bench b({.adaptive = true, .highest_tried = 64});
  struct request {
    pool::item_id id;
    double ends_at;  // Of done.
  };
  std::deque<request> out;
  double done = 0;
  pool::item_id next = 0;
  std::uint64_t most = 0;
  for (; b.elapsed() < span; b.now += tick) {
    const auto held = out.size() * (prompt + answer);
    if (b.elapsed() > span - 20) most = std::max(most, held);
    done += (held > room ? 0.3 : 1) * 50 * seconds(tick);
    while (!out.empty() && out.front().ends_at <= done) {
      chat::reply reply;
      reply.usage.completion_tokens = answer;
      result<chat::reply> outcome = reply;
      static_cast<void>(b.machine.attempt_ended(out.front().id, outcome, b.now));
      out.pop_front();
    }
    if (const auto command = b.step(); command == "ask") {
      b.give(next++, 0, prompt);
      if (b.step() == "start " + std::to_string(next - 1)) out.push_back({next - 1, done + answer});
    }
  }
  CHECK(b.machine.endpoints()[0].limit() > out.size());
  return most;
}

/// Answers whatever is sent within `life`, fails it while the server is away; to the end of `items` items.
struct outage_result {
  std::uint64_t sent = 0;
  std::uint64_t errors = 0;
  double ended_at = 0;
};

outage_result through_outage(pool::options how, duration begins, duration lasts, std::uint64_t items,
                             duration life) {
  pool_bench b(how);
  outage_result out;
  std::multimap<instant, pool::item_id> ends;
  pool::item_id next = 0;
  while (true) {
    const auto what = b.machine.step(b.now);
    if (!what) {
      const auto wake = b.machine.next_wake(b.now);
      if (!ends.empty() && (!wake || ends.begin()->first <= *wake)) {
        b.now = ends.begin()->first;
        const auto id = ends.begin()->second;
        ends.erase(ends.begin());
        const bool away = b.now >= b.start + begins && b.now < b.start + begins + lasts;
        if (away) {
          if (!b.fail(id, errc::transport)) ++out.errors;
        } else {
          b.answer(id);
        }
      } else {
        REQUIRE(b.sleep());
      }
    } else if (std::holds_alternative<pool::ask_source>(*what)) {
      if (next == items) {
        b.machine.source_exhausted();
      } else {
        b.give(next++);
      }
    } else if (const auto* start = std::get_if<pool::start_attempt>(&*what)) {
      ++out.sent;
      const bool away = b.now >= b.start + begins && b.now < b.start + begins + lasts;
      ends.emplace(b.now + (away ? duration(1ms) : life), start->id);
    } else if (std::holds_alternative<pool::end_item>(*what)) {
      ++out.errors;
    } else {
      REQUIRE(std::holds_alternative<pool::report_drained>(*what));
      out.ended_at = b.elapsed();
      return out;
    }
  }
}

/// Ten requests at a time, and items that outlive every outage.
pool::options ten_places() {
  pool::options how;
  how.max_in_flight = 10;
  how.breaker.max_outage = 0s;
  how.retry.retries = 100;
  return how;
}

/// The one request that goes out after `wait` seconds of none.
pool::item_id next_probe(pool_bench& b, double wait) {
  const auto before = b.elapsed();
  std::string what;
  while ((what = b.step()) == "-") REQUIRE(b.sleep());
  REQUIRE(what.starts_with("start"));
  CHECK(b.elapsed() - before == doctest::Approx(wait));
  return static_cast<pool::item_id>(std::stoi(what.substr(6)));
}

/// Ten failures in a row, then the first probe.
pool::item_id probe_after_outage(pool_bench& b, double wait) {
  for (pool::item_id id = 0; id < 10; ++id) b.pull(id);
  for (pool::item_id id = 0; id < 10; ++id) CHECK(b.fail(id, errc::transport));
  return next_probe(b, wait);
}

}  // namespace

TEST_CASE("an adaptive limit begins where it is told, within what may be tried") {
  CHECK(pool_bench({.adaptive = true}).machine.endpoints()[0].limit() == 2);
  CHECK(
      pool_bench({.adaptive = true, .highest_tried = 16, .first_tried = 8}).machine.endpoints()[0].limit() ==
      8);
  CHECK(pool_bench({.adaptive = true, .highest_tried = 4, .first_tried = 8}).machine.endpoints()[0].limit() ==
        4);
}

TEST_CASE("an outage of a minute at 64 in flight costs no item and at most a fifth more requests") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    pool::options how;
    how.max_in_flight = 64;
    how.seed = seed;
    const auto out = through_outage(how, 10s, 60s, 2'000, 1s);
    CHECK(out.errors == 0);
    CHECK(out.sent <= 2'400);
    // 2,000 items at 64 a second are 31 s; a probe finds the server again within the doubled wait, and then
    // all places are in use at once.
    CHECK(out.ended_at <= 10 + 75 + 31.25 + 5);
  }
}

TEST_CASE("so does an outage that a run begins with, whose retries have their budget from the start") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    pool::options how;
    how.max_in_flight = 64;
    how.seed = seed;
    const auto out = through_outage(how, 0s, 60s, 2'000, 1s);
    CHECK(out.errors == 0);
    CHECK(out.sent <= 2'400);
  }
}

TEST_CASE(
    "a server that never comes back ends the run after the longest outage, and keeps the rest for later") {
  pool::options how;
  how.max_in_flight = 4;
  how.breaker.max_outage = 10min;
  const auto out = through_outage(how, 10s, 24h, 1'000'000, 100ms);
  CHECK(out.ended_at >= 600);
  CHECK(out.ended_at <= 680);
  CHECK(out.errors <= 14);  // The ten that closed it, and the four places.
}

TEST_CASE("ten failures in a row close an endpoint; probes go out after 5, 10, 20, 40 and 60 seconds") {
  pool::options how;
  how.max_in_flight = 10;
  how.breaker.max_outage = 0s;
  pool_bench b(how);
  for (pool::item_id id = 0; id < 10; ++id) b.pull(id);
  for (pool::item_id id = 0; id < 10; ++id) CHECK(b.fail(id, errc::transport));
  double last = 0;
  for (const double wait : {5.0, 10.0, 20.0, 40.0, 60.0, 60.0}) {
    std::string what;
    while ((what = b.step()) == "-") REQUIRE(b.sleep());
    REQUIRE(what.starts_with("start"));
    CHECK(b.elapsed() - last == doctest::Approx(wait));
    last = b.elapsed();
    CHECK(b.step() == "-");  // One probe, no more.
    const auto id = static_cast<pool::item_id>(std::stoi(what.substr(6)));
    CHECK(b.fail(id, errc::transport));
  }
  CHECK(b.machine.endpoints()[0].ejections() == 1);
}

TEST_CASE("a probe that is answered opens the endpoint for all") {
  pool::options how;
  how.max_in_flight = 10;
  pool_bench b(how);
  for (pool::item_id id = 0; id < 10; ++id) b.pull(id);
  for (pool::item_id id = 0; id < 10; ++id) CHECK(b.fail(id, errc::transport));
  std::string what;
  while ((what = b.step()) == "-") REQUIRE(b.sleep());
  b.answer(static_cast<pool::item_id>(std::stoi(what.substr(6))));
  CHECK(b.step() != "-");
  CHECK(b.step() != "-");
}

TEST_CASE("a probe whose first token has come opens the endpoint for all, however long its answer takes") {
  pool_bench b(ten_places());
  const auto probe = probe_after_outage(b, 5.0);
  CHECK(b.step() == "-");
  b.now += 300ms;
  b.machine.first_token(probe);
  pool::item_id other = 0;
  for (int more = 0; more < 9; ++more) {
    const auto what = b.step();
    REQUIRE(what.starts_with("start"));
    other = static_cast<pool::item_id>(std::stoi(what.substr(6)));
  }
  // That it breaks in the middle, long afterwards, is one failure of an endpoint that answers others.
  b.now += 100s;
  b.answer(other);
  CHECK(b.fail(probe, errc::truncated));
  CHECK(b.machine.endpoints()[0].breaker_closed());
  CHECK(b.machine.endpoints()[0].ejections() == 1);
}

TEST_CASE("an endpoint that breaks off what it begins is on trial: each failure doubles the wait") {
  pool_bench b(ten_places());
  auto probe = probe_after_outage(b, 5.0);
  for (const double wait : {10.0, 20.0, 40.0, 60.0, 60.0}) {
    b.machine.first_token(probe);
    CHECK(b.machine.endpoints()[0].breaker_closed());
    CHECK(b.fail(probe, errc::truncated));
    CHECK_FALSE(b.machine.endpoints()[0].breaker_closed());
    probe = next_probe(b, wait);
  }
  CHECK(b.machine.endpoints()[0].ejections() == 1);
}

TEST_CASE("the longest outage counts the time in which nothing was answered, without that of a trial") {
  auto how = ten_places();
  how.breaker.max_outage = 30s;
  pool_bench b(how);
  const auto probe = probe_after_outage(b, 5.0);
  b.machine.first_token(probe);
  b.now += 1h;
  CHECK(b.fail(probe, errc::truncated));
  CHECK_FALSE(b.machine.endpoints()[0].out_of_use(b.now));
  CHECK_FALSE(b.machine.endpoints()[0].out_of_use(b.now + 24s));
  CHECK(b.machine.endpoints()[0].out_of_use(b.now + 25s));
}

TEST_CASE("a refusal of one request says nothing against the endpoint") {
  pool::options how;
  how.max_in_flight = 1;
  pool_bench b(how);
  for (pool::item_id id = 0; id < 30; ++id) {
    b.pull(id);
    CHECK_FALSE(b.fail(id, errc::invalid_request));
  }
  CHECK(b.machine.endpoints()[0].ejections() == 0);
}

TEST_CASE("a key that is refused ten times in a row is not tried on the rest of the suite") {
  pool::options how;
  how.max_in_flight = 1;
  pool_bench b(how);
  for (pool::item_id id = 0; id < 10; ++id) {
    b.pull(id);
    CHECK_FALSE(b.fail(id, errc::auth));
  }
  CHECK(b.step() == "drained: no endpoint can be used any more; the last failure: it failed");
}

TEST_CASE("items without an affinity go where least is in flight") {
  pool::options how;
  how.max_in_flight = 4;
  pool_bench b(how, 3);
  std::map<std::uint32_t, int> count;
  for (pool::item_id id = 0; id < 9; ++id) {
    REQUIRE(b.step() == "ask");
    b.give(id);
    ++count[endpoint_of(b.machine.step(b.now))];
  }
  CHECK(count == std::map<std::uint32_t, int>{{0, 3}, {1, 3}, {2, 3}});
}

TEST_CASE("items of one prefix stay at one endpoint, up to a quarter more than its share") {
  pool::options how;
  how.max_in_flight = 100;
  pool_bench b(how, 4);
  std::map<std::uint64_t, std::map<std::uint32_t, int>> places;
  for (pool::item_id id = 0; id < 200; ++id) {
    REQUIRE(b.step() == "ask");
    const std::uint64_t affinity = 1 + id % 20;
    b.give(id, affinity);
    ++places[affinity][endpoint_of(b.machine.step(b.now))];
  }
  int at_home = 0;
  for (const auto& [affinity, counts] : places) {
    int most = 0;
    for (const auto& [endpoint, n] : counts) most = std::max(most, n);
    at_home += most;
  }
  CHECK(at_home >= 150);
  for (const auto& gate : b.machine.endpoints())
    CHECK(gate.in_flight() <= 63);  // 1.25 · 200 / 4, rounded up.
}

TEST_CASE("the loss of one endpoint moves only what was there") {
  pool::options how;
  how.max_in_flight = 1'000;
  std::map<std::uint64_t, std::uint32_t> home;
  for (const bool lost : {false, true}) {
    pool_bench b(how, 3);
    if (lost) {
      // Ten failures at endpoint 0.
      std::set<pool::item_id> there;
      for (pool::item_id id = 1'000; there.size() < 10; ++id) {
        REQUIRE(b.step() == "ask");
        b.give(id);
        if (endpoint_of(b.machine.step(b.now)) == 0) {
          there.insert(id);
        }
      }
      for (pool::item_id id = 1'000; id < 1'100; ++id) {
        if (there.contains(id)) {
          b.fail(id, errc::transport);
        } else {
          b.answer(id);
        }
      }
    }
    for (std::uint64_t affinity = 1; affinity <= 30; ++affinity) {
      REQUIRE(b.step() == "ask");
      b.give(affinity, affinity);
      const auto at = endpoint_of(b.machine.step(b.now));
      b.answer(affinity);
      if (!lost) home[affinity] = at;
      if (lost && home[affinity] != 0) CHECK(at == home[affinity]);
      if (lost) CHECK(at != 0);
    }
  }
}

TEST_CASE("a failure at one endpoint is tried at another") {
  pool::options how;
  how.max_in_flight = 2;
  pool_bench b(how, 2);
  REQUIRE(b.step() == "ask");
  b.give(1, 7);
  const auto first = endpoint_of(b.machine.step(b.now));
  auto why = fail(errc::overloaded, stage::body, "busy");
  why.retry_after = 100s;
  CHECK(b.fail(1, why));
  b.machine.drain();
  std::optional<pool::command> what;
  while (!(what = b.machine.step(b.now))) REQUIRE(b.sleep());
  CHECK(endpoint_of(what) != first);
  CHECK(b.elapsed() <= 0.5);
}

TEST_CASE("a server that dies is used at half; the item that kills it twice is not sent a third time") {
  pool::options how;
  how.max_in_flight = 8;
  pool_bench b(how);
  constexpr pool::item_id killer = 3;
  for (pool::item_id id = 0; id < 8; ++id) b.pull(id);
  b.machine.drain();
  for (pool::item_id id = 0; id < 8; ++id) CHECK(b.fail(id, died()));
  CHECK(b.machine.endpoints()[0].limit() == 4);
  // Suspects go out one at a time, so the second death tells who it was.
  int deaths = 1;
  std::set<pool::item_id> answered;
  while (true) {
    const auto what = b.machine.step(b.now);
    if (!what) {
      REQUIRE(b.sleep());
      continue;
    }
    if (std::holds_alternative<pool::report_drained>(*what)) break;
    REQUIRE(std::holds_alternative<pool::start_attempt>(*what));
    const auto id = std::get<pool::start_attempt>(*what).id;
    CHECK(b.machine.in_flight() == 1);
    if (id == killer) {
      ++deaths;
      CHECK_FALSE(b.fail(id, died()));
      CHECK(b.last.message ==
            "the server died; it died twice while this item was out, which is not sent again");
    } else {
      b.answer(id);
      answered.insert(id);
    }
  }
  CHECK(deaths == 2);
  CHECK(answered.size() == 7);
}

TEST_CASE("an adaptive limit keeps the tokens in flight below what makes the server collapse") {
  for (const std::uint64_t prompt : {450U, 1950U}) {
    CAPTURE(prompt);
    const auto held = most_tokens_held(prompt, 120);
    CHECK(held <= 10'000 + prompt + 50);
    CHECK(held >= 7'000);
  }
}
