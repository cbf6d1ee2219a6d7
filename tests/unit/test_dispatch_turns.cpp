#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <vector>

#include <evalcore/prefix/dispatch.hpp>

#include "unit/prompts.hpp"

using namespace evalcore;
using test::add_family;
using test::prompt;
using namespace std::chrono_literals;

namespace {

struct bench {
  prefix::dispatcher dispatcher;
  instant now{};

  bench(const std::vector<prefix::sequence>& suite, prefix::cache_model cache)
      : dispatcher(prefix::make_plan(suite, true, {}), cache) {}

  /// The item that goes out; -1 for a hold, -2 when there is none left.
  int next() {
    const auto what = dispatcher.next(now);
    if (const auto* one = std::get_if<prefix::send>(&what)) {
      predicted[one->item] = one->predicted_cached;
      return static_cast<int>(one->item);
    }
    const auto* held = std::get_if<prefix::hold>(&what);
    held_until = held != nullptr ? held->until : std::nullopt;
    return held != nullptr ? -1 : -2;
  }
  void first_token(int item) { dispatcher.on_first_token(static_cast<std::uint32_t>(item), now); }
  void end(int item, std::optional<std::uint64_t> cached = {}) {
    dispatcher.on_end(static_cast<std::uint32_t>(item), {.ok = true, .cached = cached});
  }
  /// Sends the next one and has it answered at once.
  int through(std::uint64_t cached) {
    const int item = next();
    if (item < 0) return item;
    first_token(item);
    end(item, cached);
    return item;
  }

  std::map<std::uint32_t, std::optional<std::uint64_t>> predicted;
  std::optional<instant> held_until;
};

std::vector<prefix::sequence> families(std::initializer_list<int> counts, int shared) {
  std::vector<prefix::sequence> suite;
  prefix::unit family = 1;
  for (const int count : counts) add_family(suite, family++, count, shared, 10);
  return suite;
}

/// Sends families of twenty and tells how many were at one time begun and not at their end.
int most_begun(bench& b, int items) {
  std::map<int, int> sent;
  int most = 0;
  for (int i = 0; i < items; ++i) {
    ++sent[b.through(400) / 20];
    const auto open = std::ranges::count_if(sent, [](const auto& one) { return one.second < 20; });
    most = std::max(most, static_cast<int>(open));
  }
  return most;
}

}  // namespace

TEST_CASE("groups take turns in proportion to their sizes") {
  bench b(families({200, 100}, 400), {});
  int of_first = 0;
  for (int i = 0; i < 150; ++i) of_first += b.through(400) < 200 ? 1 : 0;
  // 100 are expected; four times the deviation of drawing 150 of 300 is 17.
  CHECK(of_first > 100 - 17);
  CHECK(of_first < 100 + 17);
  while (b.through(400) >= 0) {
  }
  CHECK(b.predicted.size() == 300);
}

TEST_CASE("turns are by chance, and the same each time") {
  bench one(families({20, 20, 20}, 400), {});
  bench same(families({20, 20, 20}, 400), {});
  for (int i = 0; i < 60; ++i) REQUIRE(one.through(400) == same.through(400));
}

TEST_CASE("no more than eight groups take turns") {
  bench b(families({20, 20, 20, 20, 20, 20, 20, 20, 20, 20}, 400), {});
  CHECK(most_begun(b, 200) == 8);
}

TEST_CASE("a cache with little room is given fewer groups at a time") {
  bench b(families({20, 20, 20}, 400), {.room = 900});
  CHECK(most_begun(b, 60) == 2);
}

TEST_CASE("a cache of ten entries is given five groups, and has a prompt only when it has ended") {
  bench b(families({20, 20, 20, 20, 20, 20}, 400), {.entries = 10});
  CHECK(most_begun(b, 120) == 5);

  bench one(families({3}, 400), {.entries = 10});
  CHECK(one.next() == 0);
  CHECK(one.next() == -1);
  one.first_token(0);
  one.end(0);
  CHECK(one.next() == 1);
  CHECK(one.predicted[1] == 400U);
}

TEST_CASE("a prompt that is kept only at its request's end is waited for no longer than computing it takes") {
  bench b(families({3, 1}, 400), {.entries = 10});
  CHECK(b.next() == 0);
  CHECK(b.next() == 3);
  b.now += 4100ms;  // 410 units, 10 ms each.
  b.first_token(0);
  CHECK(b.next() == -1);
  CHECK(b.held_until == b.now + 4s);  // The 400 that are shared.
  b.now += 4s;
  CHECK(b.next() == 1);
  CHECK(b.predicted[1] == std::nullopt);
  CHECK(b.next() == -1);  // Its first token is waited for.
}

TEST_CASE("a prompt that is kept only at its request's end is not waited for while nothing is computed") {
  bench b(families({4}, 400), {.entries = 10});
  CHECK(b.next() == 0);
  CHECK(b.next() == -1);
  b.now += 4100ms;
  b.first_token(0);
  CHECK(b.next() == 1);
  CHECK(b.predicted[1] == std::nullopt);
  CHECK(b.next() == -1);
  b.end(0);
  CHECK(b.next() == 2);
  CHECK(b.predicted[2] == 400U);
}

TEST_CASE("groups that began to fill the time go on beside the eight, while their prefixes are warm") {
  bench b(families({30, 30, 30, 30, 30, 30, 30, 30, 30, 30}, 400), {});
  std::set<int> leaders;
  for (int i = 0; i < 10; ++i) leaders.insert(b.next());
  CHECK(leaders == std::set<int>{0, 30, 60, 90, 120, 150, 180, 210, 240, 270});
  CHECK(b.next() == -1);
  for (const int leader : leaders) b.first_token(leader);
  std::set<int> in_turn;
  for (int i = 0; i < 100; ++i) in_turn.insert(b.next() / 30);
  CHECK(in_turn.size() == 10);
}

TEST_CASE("a prefix that was predicted and is not there shows that fewer groups fit") {
  bench b(families({20, 20, 20}, 400), {});
  std::set<int> begun;
  while (begun.size() < 3) begun.insert(b.through(400) / 20);
  b.through(0);  // Dropped for the others: of the 1,200 that were asked for 900 are counted on.
  std::set<int> in_turn;
  for (int i = 0; i < 20; ++i) in_turn.insert(b.through(400) / 20);
  CHECK(in_turn == std::set<int>{0, 1});
}

TEST_CASE("turns stand for the groups behind them, too, so that the largest does not end first") {
  // One of 600 and thirty of 20, in rounds of eight: while all are shuffled, half of what goes out is the
  // large one's. Taken by their own sizes alone it would be four in five.
  std::vector<prefix::sequence> suite;
  add_family(suite, 1, 600, 400, 10);
  for (prefix::unit family = 2; family < 32; ++family) add_family(suite, family, 20, 400, 10);
  bench b(suite, {});
  int of_large = 0;
  for (int i = 0; i < 600; ++i) of_large += b.through(400) < 600 ? 1 : 0;
  // 300 are expected; four times the deviation of 600 draws is 49.
  CHECK(of_large > 300 - 49);
  CHECK(of_large < 300 + 49);
}

TEST_CASE("a prefix that was dropped is missed though what the whole suite shares was found") {
  std::vector<prefix::sequence> suite;
  for (int i = 0; i < 60; ++i) suite.push_back(prompt({{1'000, 9}, {600, i / 20 + 1}, {10, 100 + i}}));
  bench b(suite, {});
  std::set<int> begun;
  while (begun.size() < 3) begun.insert(b.through(1'600) / 20);
  b.through(1'000);  // Of the 4,800 that were asked for 3,600 are counted on: two of 1,600.
  std::set<int> in_turn;
  for (int i = 0; i < 20; ++i) in_turn.insert(b.through(1'600) / 20);
  CHECK(in_turn == std::set<int>{0, 1});
}

TEST_CASE("a block that is found in part is no miss") {
  std::vector<prefix::sequence> suite;
  for (int i = 0; i < 120; ++i) suite.push_back(prompt({{1'000, 9}, {300, i / 40 + 1}, {10, 100 + i}}));
  bench b(suite, {});
  for (int i = 0; i < 18; ++i) b.through(1'280);  // Five blocks of 256.
  b.through(1'024);
  b.through(1'045);
  b.through(1'045);
  std::set<int> in_turn;
  for (int i = 0; i < 30; ++i) in_turn.insert(b.through(1'280) / 40);
  CHECK(in_turn == std::set<int>{0, 1, 2});
}

TEST_CASE("one prefix in many that is not found says nothing of the room") {
  bench b(families({60, 60, 60}, 400), {});
  for (int i = 0; i < 18; ++i) b.through(400);
  b.through(0);
  std::set<int> in_turn;
  for (int i = 0; i < 30; ++i) in_turn.insert(b.through(400) / 60);
  CHECK(in_turn == std::set<int>{0, 1, 2});
}

TEST_CASE("where prompts are found while they are computed nobody waits") {
  bench b(families({3}, 400), {.shares_in_flight = true, .page = 16});
  CHECK(b.next() == 0);
  CHECK(b.next() == 1);
  CHECK(b.predicted[1] == 400U);
  CHECK(b.next() == 2);
}

TEST_CASE("whole pages are predicted, and a prefix too short for the cache keeps nobody waiting") {
  bench pages(families({2}, 400), {.page = 128});
  CHECK(pages.through(0) == 0);
  CHECK(pages.next() == 1);
  CHECK(pages.predicted[1] == 384U);  // Three pages of 128.

  bench shorter(families({2}, 400), {.least = 1024});
  CHECK(shorter.next() == 0);
  CHECK(shorter.next() == 1);
  CHECK(shorter.predicted[1] == std::nullopt);
}

TEST_CASE("a prefix that was not used for longer than the cache keeps it is led again") {
  bench b(families({4}, 400), {.lives = 300s});
  CHECK(b.through(0) == 0);
  b.now += 301s;
  CHECK(b.next() == 1);
  CHECK(b.predicted[1] == std::nullopt);
  CHECK(b.next() == -1);
  b.first_token(1);
  CHECK(b.next() == 2);
  CHECK(b.predicted[2] == 400U);
}

TEST_CASE("a leader without a first token for long is replaced") {
  bench b(families({4}, 400), {});
  CHECK(b.next() == 0);
  CHECK(b.next() == -1);
  CHECK(b.held_until == b.now + 10s);
  b.now += 9s;
  CHECK(b.next() == -1);
  b.now += 1s;
  CHECK(b.next() == 1);
  CHECK(b.next() == -1);
  b.first_token(1);
  CHECK(b.next() == 2);
}

TEST_CASE("a leader that was replaced leads all the same when its first token comes first") {
  bench b(families({4}, 400), {});
  CHECK(b.next() == 0);
  b.now += 10s;
  CHECK(b.next() == 1);
  CHECK(b.next() == -1);
  b.first_token(0);
  CHECK(b.next() == 2);
  CHECK(b.predicted[2] == 400U);
}

TEST_CASE("a leader may take four times as long as the slowest one before") {
  bench b(families({2, 2}, 400), {});
  CHECK(b.next() == 0);
  b.now += 20s;
  b.first_token(0);
  b.end(0);
  CHECK(b.next() == 2);
  CHECK(b.next() == 1);
  b.now += 79s;
  CHECK(b.next() == -1);
  CHECK(b.held_until == b.now + 1s);
  b.now += 1s;
  CHECK(b.next() == 3);
}

TEST_CASE("how long a retried leader took says nothing of how long others may take") {
  bench b(families({2, 2}, 400), {});
  CHECK(b.next() == 0);
  b.now += 60s;
  b.dispatcher.on_retry(0, b.now);
  b.now += 5s;
  b.first_token(0);
  b.end(0);
  CHECK(b.next() == 2);
  CHECK(b.next() == 1);
  b.now += 9s;
  CHECK(b.next() == -1);
  CHECK(b.held_until == b.now + 1s);
  b.now += 1s;
  CHECK(b.next() == 3);
}

TEST_CASE("a cache that gives next to nothing ends the planning") {
  bench b(families({30, 30}, 400), {});
  int predicted = 0;
  while (b.dispatcher.state() == prefix::planning::whole) {
    const int item = b.through(0);
    REQUIRE(item >= 0);
    predicted += b.predicted[static_cast<std::uint32_t>(item)] ? 1 : 0;
  }
  CHECK(predicted == 16);
  CHECK(b.dispatcher.state() == prefix::planning::ended);
  // From here on in the suite's order, without holds.
  int last = -1;
  for (int next = b.next(); next >= 0; next = b.next()) {
    CHECK(next > last);
    last = next;
  }
  CHECK(b.predicted.size() == 60);
}

TEST_CASE("what an answer says was found is in tokens, however much, where the plan is in bytes") {
  prefix::dispatcher one(prefix::make_plan(families({30}, 400), false, {}), {});
  for (int answered = 0; answered < 20; ++answered) {
    const auto what = one.next({});
    const auto* go = std::get_if<prefix::send>(&what);
    REQUIRE(go != nullptr);
    one.on_first_token(go->item, {});
    one.on_end(go->item, {.ok = true, .cached = answered == 1 ? std::uint64_t{1} << 62U : 0});
  }
  CHECK(one.state() == prefix::planning::whole);
}

TEST_CASE("a short prefix that is not found tells nothing of the cache") {
  bench b(families({40}, 60), {});
  for (int i = 0; i < 30; ++i) b.through(0);
  CHECK(b.predicted[29] == 60U);
  CHECK(b.dispatcher.state() == prefix::planning::whole);
}

TEST_CASE("a backend that does not tell of its cache is planned for to the end") {
  bench b(families({40}, 400), {});
  for (int i = 0; i < 40; ++i) {
    const int item = b.next();
    b.first_token(item);
    b.end(item);
  }
  CHECK(b.dispatcher.state() == prefix::planning::whole);
  CHECK(b.next() == -2);
}

namespace {

/// Sixteen answers from four places. The places were busy for 1 * 1 + 4 * 5 seconds, up to the moment when
/// the dispatcher is asked again, and never held free: the first hold is before anybody knows that there are
/// four. Then the prefix is dropped and led again, by item 16, with three places held free.
void lead_again(bench& b, std::optional<std::uint64_t> cached) {
  CHECK(b.next() == 0);
  CHECK(b.next() == -1);
  b.now += 1s;
  b.first_token(0);
  std::vector<int> running{0};
  for (int round = 0; round < 4; ++round) {
    while (running.size() < 4) running.push_back(b.next());
    b.now += 1s;
    for (const int item : running) b.first_token(item);
    for (const int item : running) b.end(item, cached);
    running.clear();
  }
  b.now += 1s;
  CHECK(b.next() == 16);
  CHECK(b.next() == -1);
}

}  // namespace

TEST_CASE("where nobody tells what waiting brings, it takes 1 % of the time of all places at most") {
  bench b(families({40}, 400), {.lives = 500ms});
  lead_again(b, std::nullopt);
  // Three places of four stay free: 3 t = 0.01 * (21 + 4 t) at t = 0.0709 s.
  REQUIRE(b.held_until);
  CHECK(*b.held_until - b.now > 70ms);
  CHECK(*b.held_until - b.now < 71ms);
  b.now += 70ms;
  CHECK(b.next() == -1);
  CHECK(b.dispatcher.state() == prefix::planning::whole);
  b.now += 1ms;
  CHECK(b.next() == 17);
  CHECK(b.dispatcher.state() == prefix::planning::bounded);
  CHECK(b.next() == 18);
}

TEST_CASE("the time in which nothing can go out is not billed to waiting") {
  bench b(families({40}, 400), {.lives = 500ms});
  lead_again(b, std::nullopt);
  b.now += 50ms;
  b.dispatcher.on_pause(true, b.now);
  b.now += 5s;
  b.dispatcher.on_pause(false, b.now);
  CHECK(b.next() == -1);
  // Of the 70.9 ms that are due without a pause 50 have gone.
  REQUIRE(b.held_until);
  CHECK(*b.held_until - b.now > 20ms);
  CHECK(*b.held_until - b.now < 21ms);
  CHECK(b.dispatcher.state() == prefix::planning::whole);
}

TEST_CASE("the first wait counts, too, where it is known how many requests will be in flight") {
  bench b(families({40}, 400), {.in_flight = 4, .lives = 500ms});
  CHECK(b.next() == 0);
  CHECK(b.next() == -1);
  b.now += 1s;  // Three places of four were free: a whole run of 300 s could afford them.
  b.first_token(0);
  b.end(0);
  for (int i = 0; i < 15; ++i) {
    const int item = b.next();
    b.first_token(item);
    b.end(item);
  }
  b.now += 1s;
  CHECK(b.next() == 16);
  CHECK(b.next() == 17);
  CHECK(b.dispatcher.state() == prefix::planning::bounded);
}

TEST_CASE("when waits have become too dear, who has not to wait goes first all the same") {
  bench b(families({30, 30}, 400), {.in_flight = 3, .lives = 500ms});
  CHECK(b.next() == 0);
  CHECK(b.next() == 30);
  CHECK(b.next() == -1);
  b.now += 400ms;
  for (const int leader : {0, 30}) {
    b.first_token(leader);
    b.end(leader);
  }
  for (int i = 0; i < 14; ++i) {
    const int item = b.next();
    b.first_token(item);
    b.end(item);
  }
  b.now += 501ms;  // Both prefixes are dropped, and led again.
  const int one = b.next();
  const int other = b.next();
  CHECK((one < 30) != (other < 30));
  b.first_token(one);
  std::set<bool> families;
  while (families.size() < 2) {
    const int item = b.next();
    REQUIRE(item >= 0);
    const bool first = item < 30;
    families.insert(first);
    // Those of the other one, whose prefix is still computed, go when none is left that has it.
    if (first != (one < 30))
      CHECK(std::ranges::count_if(b.predicted,
                                  [&](const auto& sent) { return (sent.first < 30) == (one < 30); }) == 30);
  }
}

TEST_CASE("where nobody has told of the cache the last ones wait for nothing that has room at once") {
  bench all(families({4}, 400), {.in_flight = 4});
  for (int i = 0; i < 4; ++i) CHECK(all.next() == i);

  bench more(families({4}, 400), {.in_flight = 3});
  CHECK(more.next() == 0);
  CHECK(more.next() == -1);

  bench told(families({1, 4}, 400), {.in_flight = 4});
  CHECK(told.through(0) == 0);
  CHECK(told.next() == 1);
  CHECK(told.next() == -1);
}

TEST_CASE("where the backend tells what was found, waiting has no such bound") {
  bench b(families({40}, 400), {.lives = 500ms});
  lead_again(b, 400);
  b.now += 9s;
  CHECK(b.next() == -1);
  CHECK(b.dispatcher.state() == prefix::planning::whole);
}

TEST_CASE("a dealt suite goes out in blocks, as many as prefixes computed again leave cheap") {
  std::vector<prefix::sequence> suite;
  for (int i = 0; i < 600; ++i) {
    suite.push_back(prompt({{100, i % 2 + 1}, {300, 10 + i}}));
  }
  // 600 * 300 own units; a fiftieth of them pays 18 times for both prefixes, but 600 items are two blocks.
  const auto made = prefix::make_plan(suite, true, {.dealt = true});
  CHECK(made.blocks == 2);
  for (const prefix::cache_model& cache : {prefix::cache_model{}, prefix::cache_model{.slots = 4}}) {
    prefix::dispatcher b(made, cache);
    for (int sent = 0; sent < 600; ++sent) {
      const auto what = b.next({});
      REQUIRE(std::holds_alternative<prefix::send>(what));
      const auto item = std::get<prefix::send>(what).item;
      REQUIRE((item < 300) == (sent < 300));
      b.on_first_token(item, {});
      b.on_end(item, {});
    }
  }

  // Prefixes of 400 before 40 units: 600 * 40 / 50 pays for 480, which is less than both.
  suite.clear();
  for (int i = 0; i < 600; ++i) suite.push_back(prompt({{400, i % 2 + 1}, {40, 10 + i}}));
  CHECK(prefix::make_plan(suite, true, {.dealt = true}).blocks == 1);
  CHECK(prefix::make_plan(suite, true, {}).blocks == 1);
}

TEST_CASE("slots apart: a group that is behind is given slots of one that has several") {
  std::vector<prefix::sequence> suite;
  add_family(suite, 1, 40, 100, 50);
  add_family(suite, 2, 40, 100, 50);
  prefix::dispatcher b(prefix::make_plan(suite, true, {}), {.slots = 4});
  std::vector<std::uint32_t> of_slot(4);
  const auto go = [&] {
    const auto what = b.next({});
    const auto& one = std::get<prefix::send>(what);
    of_slot[*one.slot] = one.item;
    return *one.slot;
  };
  for (int i = 0; i < 4; ++i) go();
  const auto in_second = [&] { return std::ranges::count_if(of_slot, [](auto item) { return item >= 40; }); };
  CHECK(in_second() == 2);
  // Only the first family's requests end: its slots go over one by one, the last one stays.
  for (int i = 0; i < 30; ++i) {
    const auto first = std::ranges::find_if(of_slot, [](auto item) { return item < 40; });
    REQUIRE(first != of_slot.end());
    b.on_end(*first, {});
    go();
  }
  CHECK(in_second() == 3);
}
