#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <evalcore/prefix/dispatch.hpp>
#include <evalcore/prefix/prediction.hpp>

#include "unit/prompts.hpp"

using namespace evalcore;
using test::add_family;
using test::prompt;
using namespace std::chrono_literals;

namespace {

std::string text(const prefix::action& what) {
  if (const auto* go = std::get_if<prefix::send>(&what)) {
    std::string out = "send " + std::to_string(go->item);
    if (go->slot) out += " to " + std::to_string(*go->slot);
    return out + (go->predicted_cached ? " with " + std::to_string(*go->predicted_cached) : " with ?");
  }
  if (const auto* copy = std::get_if<prefix::share>(&what)) {
    std::string out = "share " + std::to_string(copy->from);
    for (const auto to : copy->to) out += " " + std::to_string(to);
    return out;
  }
  return std::holds_alternative<prefix::hold>(what) ? "hold" : "finished";
}

struct bench {
  std::vector<prefix::sequence> suite;
  prefix::dispatcher dispatcher;
  instant now{};
  std::optional<instant> held_until;

  bench(std::vector<prefix::sequence> prompts, prefix::cache_model cache, prefix::options how = {})
      : suite(std::move(prompts)), dispatcher(prefix::make_plan(suite, true, how), cache) {}
  std::string next() {
    const auto what = dispatcher.next(now);
    const auto* held = std::get_if<prefix::hold>(&what);
    held_until = held != nullptr ? held->until : std::nullopt;
    return text(what);
  }
  void end(std::uint32_t item, bool ok = true) { dispatcher.on_end(item, {.ok = ok}); }
};

std::vector<prefix::sequence> family(int count, int shared, int own) {
  std::vector<prefix::sequence> suite;
  add_family(suite, 1, count, shared, own);
  return suite;
}

std::vector<prefix::sequence> families(int how_many, int count, int shared, int own) {
  std::vector<prefix::sequence> suite;
  for (int f = 1; f <= how_many; ++f) add_family(suite, f, count, shared, own);
  return suite;
}

const prefix::cache_model two_that_share{.slots = 2, .can_share = true};
const prefix::cache_model four_that_share{.slots = 4, .can_share = true};
const prefix::cache_model two_apart{.slots = 2};

}  // namespace

TEST_CASE("slots: the leader goes alone, its slot is copied, then all work side by side") {
  bench b(family(7, 900, 10), four_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "hold");
  b.dispatcher.on_first_token(0, b.now);
  CHECK(b.next() == "hold");  // What a slot holds can be copied only when its request has ended.
  b.end(0);
  CHECK(b.next() == "share 0 1 2 3");
  CHECK(b.next() == "hold");
  b.dispatcher.on_shared(true);
  CHECK(b.next() == "send 1 to 0 with 900");
  CHECK(b.next() == "send 2 to 1 with 900");
  CHECK(b.next() == "send 3 to 2 with 900");
  CHECK(b.next() == "send 4 to 3 with 900");
  CHECK(b.next() == "hold");
  b.end(3);
  CHECK(b.next() == "send 5 to 2 with 900");
  b.end(1);
  CHECK(b.next() == "send 6 to 0 with 900");
  CHECK(b.next() == "finished");
}

TEST_CASE("slots: no more copies than there are requests for them") {
  bench b(family(3, 900, 10), four_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  b.end(0);
  CHECK(b.next() == "share 0 1");  // Slot 0 takes one of the two that are left.
}

TEST_CASE("slots: the last unit of a prompt is always computed") {
  bench b({prompt({{300, 1}}), prompt({{300, 1}}), prompt({{300, 1}, {1, 2}})}, {.slots = 1});
  CHECK(b.next() == "send 0 to 0 with 0");
  b.end(0);
  CHECK(b.next() == "send 1 to 0 with 299");
  b.end(1);
  CHECK(b.next() == "send 2 to 0 with 300");
}

TEST_CASE("slots: the prediction follows the last prompt in the slot, not the group") {
  // 0 and 2 share 20 beyond the 900.
  bench b(
      {prompt({{900, 1}, {20, 2}, {9, 3}}), prompt({{900, 1}, {30, 4}}), prompt({{900, 1}, {20, 2}, {9, 5}})},
      {.slots = 1});
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "hold");
  b.end(0);
  CHECK(b.next() == "send 2 to 0 with 920");
  b.end(2);
  CHECK(b.next() == "send 1 to 0 with 900");
}

TEST_CASE("slots: leaders of other groups fill the time, and no copy is made while there are any") {
  bench b(families(3, 3, 400, 10), two_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "send 3 to 1 with 0");
  CHECK(b.next() == "hold");
  b.end(0);
  CHECK(b.next() == "send 1 to 0 with 400");
  b.end(1);
  CHECK(b.next() == "send 2 to 0 with 400");
  b.end(2);
  CHECK(b.next() == "send 6 to 0 with 0");  // The third group, while slot 1 still serves the second.
  b.end(3);
  CHECK(b.next() == "send 4 to 1 with 400");
  b.end(4);
  CHECK(b.next() == "send 5 to 1 with 400");
  b.end(5);
  CHECK(b.next() == "hold");  // Slot 1 has no work of its own; slot 0 is busy with the leader.
  b.end(6);
  CHECK(b.next() == "share 0 1");
  b.dispatcher.on_shared(true);
  CHECK(b.next() == "send 7 to 0 with 400");
  CHECK(b.next() == "send 8 to 1 with 400");
  CHECK(b.next() == "finished");
}

TEST_CASE("slots: a leader waits too when its group shares much with the one that is being computed") {
  // 600 common to all, 300 more in each of two families.
  std::vector<prefix::sequence> suite;
  for (const int f : {1, 2}) {
    for (int i = 0; i < 3; ++i) suite.push_back(prompt({{600, 9}, {300, f}, {5, 100 + f * 10 + i}}));
  }
  bench b(suite, two_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "hold");
  b.end(0);
  CHECK(b.next() == "share 0 1");
  b.dispatcher.on_shared(true);
  // The first family has both slots, and the second has not begun: it is given one.
  CHECK(b.next() == "send 3 to 0 with 600");
  CHECK(b.next() == "send 1 to 1 with 900");
  b.end(1);
  CHECK(b.next() == "send 2 to 1 with 900");
  b.end(2);
  CHECK(b.next() == "hold");
  b.end(3);
  CHECK(b.next() == "share 0 1");
}

TEST_CASE("slots: a short common template holds nobody back") {
  std::vector<prefix::sequence> suite;
  for (int i = 0; i < 4; ++i) suite.push_back(prompt({{25, 9}, {400, i}}));
  bench b(suite, four_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "send 1 to 1 with 0");
  CHECK(b.next() == "send 2 to 2 with 0");
  CHECK(b.next() == "send 3 to 3 with 0");
}

TEST_CASE("slots: a failed leader is replaced, and its slot predicts nothing") {
  bench b(family(3, 900, 10), two_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "hold");
  b.end(0, false);
  // Two empty slots; the first holds an unknown part of the failed prompt.
  CHECK(b.next() == "send 1 to 0 with ?");
  CHECK(b.next() == "hold");
  b.end(1);
  CHECK(b.next() == "send 2 to 0 with 900");
  CHECK(b.next() == "finished");
}

TEST_CASE("slots: a failed copy ends sharing; the rule for slots apart holds from then on") {
  bench b(family(6, 900, 10), two_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  b.end(0);
  CHECK(b.next() == "share 0 1");
  b.dispatcher.on_shared(false);
  CHECK(b.next() == "send 1 to 0 with 900");
  CHECK(b.next() == "hold");
}

TEST_CASE("slots: a leader that answers for long is waited for as long as its prompt took") {
  bench b(family(4, 900, 10), {.slots = 3, .can_share = true});
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "hold");
  b.now += 9100ms;  // 910 units, 10 ms each: the 900 that are shared take 9 s.
  b.dispatcher.on_first_token(0, b.now);
  CHECK(b.next() == "hold");
  CHECK(b.held_until == b.now + 9s);
  b.now += 9s - 1ms;
  CHECK(b.next() == "hold");
  b.now += 1ms;
  CHECK(b.next() == "send 1 to 1 with 0");
  // Two compute it by now: the third slot waits for twice as long.
  CHECK(b.next() == "hold");
  CHECK(b.held_until == b.now + 9s);
  b.end(0);
  CHECK(b.next() == "share 0 2");
}

TEST_CASE("slots: a server that finds nothing in them is sent the rest in the suite's order, unpinned") {
  bench b(family(40, 400, 10), two_apart);
  std::size_t pinned = 0;
  int told = 0;
  while (b.dispatcher.state() == prefix::planning::whole) {
    const auto what = b.dispatcher.next(b.now);
    const auto* go = std::get_if<prefix::send>(&what);
    REQUIRE(go != nullptr);
    CHECK(go->slot);
    ++pinned;
    told += go->predicted_cached >= 400U ? 1 : 0;
    b.now += 1s;
    b.dispatcher.on_first_token(go->item, b.now);
    b.dispatcher.on_end(go->item, {.ok = true, .cached = 0});
  }
  // The first in each slot has nothing to find; sixteen others tell.
  CHECK(told == 16);
  CHECK(pinned == 16 + 2);
  CHECK(b.dispatcher.state() == prefix::planning::ended);
  std::set<std::string> rest;
  for (auto what = b.next(); what != "finished"; what = b.next()) {
    CHECK(what.find(" to ") == std::string::npos);
    rest.insert(what);
  }
  CHECK(rest.size() == 40 - pinned);
}

TEST_CASE("slots: a leader without a first token for long is replaced") {
  bench b(family(3, 900, 10), two_that_share);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "hold");
  CHECK(b.held_until == b.now + 101s);  // 10 s, and 0.1 s for each of 910 tokens.
  b.now += 101s;
  CHECK(b.next() == "send 1 to 1 with 0");
}

TEST_CASE("slots apart: an idle slot computes a prefix again after as long as that takes") {
  bench b(family(10, 385, 10), two_apart);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "hold");
  b.now += 3950ms;  // 395 units, 10 ms each.
  b.dispatcher.on_first_token(0, b.now);
  b.now += 1s;
  b.end(0);
  CHECK(b.next() == "send 1 to 0 with 385");
  CHECK(b.next() == "hold");
  b.now += 2849ms;
  CHECK(b.next() == "hold");
  b.now += 1ms;  // 3.85 s after the first token.
  CHECK(b.next() == "send 2 to 1 with 0");
}

TEST_CASE("slots apart: a second slot is used when its part of the work is worth the prefix") {
  // After the leader, the pending suffixes are 9 * 10 = 90 units: half of that does not pay for 385.
  bench one_slot(family(10, 385, 10), two_apart);
  CHECK(one_slot.next() == "send 0 to 0 with 0");
  CHECK(one_slot.next() == "hold");
  one_slot.end(0);
  CHECK(one_slot.next() == "send 1 to 0 with 385");
  CHECK(one_slot.next() == "hold");

  // 19 * 100 = 1,900: half is more than 385, so waiting for the leader would be in vain as well.
  bench both(family(20, 385, 100), two_apart);
  CHECK(both.next() == "send 0 to 0 with 0");
  CHECK(both.next() == "send 1 to 1 with 0");
}

TEST_CASE("slots apart: other groups need no second slot of the first") {
  bench b(families(2, 3, 400, 10), two_apart);
  CHECK(b.next() == "send 0 to 0 with 0");
  CHECK(b.next() == "send 3 to 1 with 0");
  b.end(3);
  CHECK(b.next() == "send 4 to 1 with 400");
  b.end(0);
  CHECK(b.next() == "send 1 to 0 with 400");
}

TEST_CASE("one cache: followers go at the leader's first token, other leaders meanwhile") {
  bench b(families(2, 3, 400, 10), {});
  CHECK(b.next() == "send 0 with ?");
  CHECK(b.next() == "send 3 with ?");
  CHECK(b.next() == "hold");
  b.dispatcher.on_first_token(3, b.now);
  CHECK(b.next() == "send 4 with 400");
  b.dispatcher.on_first_token(0, b.now);
  const std::set<std::string> rest{b.next(), b.next(), b.next()};
  CHECK(rest == std::set<std::string>{"send 1 with 400", "send 2 with 400", "send 5 with 400"});
  CHECK(b.next() == "finished");
}

TEST_CASE("one cache: an end without a first token releases as well, a failure promotes another leader") {
  bench b(family(4, 400, 10), {});
  CHECK(b.next() == "send 0 with ?");
  CHECK(b.next() == "hold");
  b.end(0, false);
  CHECK(b.next() == "send 1 with ?");
  CHECK(b.next() == "hold");
  b.end(1);
  CHECK(b.next() == "send 2 with 400");
  CHECK(b.next() == "send 3 with 400");
}

TEST_CASE("no cache: the plan's order, nobody waits, 0 is predicted") {
  bench b(family(3, 400, 10), {.slots = 2, .can_share = true, .enabled = false});
  CHECK(b.next() == "send 0 with 0");
  CHECK(b.next() == "send 1 with 0");
  CHECK(b.next() == "send 2 with 0");
  CHECK(b.next() == "finished");
}

TEST_CASE("suite order: kept, unpinned, nobody waits") {
  const std::vector<prefix::sequence> mixed{prompt({{50, 1}, {1, 2}}), prompt({{60, 3}, {1, 4}}),
                                            prompt({{50, 1}, {1, 5}}), prompt({{50, 1}, {1, 6}})};
  const prefix::options in_suite_order{.suite_order = true};

  bench one_slot(mixed, {.slots = 1}, in_suite_order);
  CHECK(one_slot.next() == "send 0 with ?");
  CHECK(one_slot.next() == "send 1 with ?");
  CHECK(one_slot.next() == "send 2 with ?");
  CHECK(one_slot.next() == "send 3 with ?");  // A server that puts prompts away may find more than the last.

  bench slots(mixed, four_that_share, in_suite_order);
  CHECK(slots.next() == "send 0 with ?");
  CHECK(slots.next() == "send 1 with ?");

  bench one_cache(mixed, {}, in_suite_order);
  CHECK(one_cache.next() == "send 0 with ?");
  CHECK(one_cache.next() == "send 1 with ?");
  CHECK(one_cache.next() == "send 2 with 50");
  one_cache.end(2, false);
  one_cache.end(0, false);
  CHECK(one_cache.next() == "send 3 with ?");
}

TEST_CASE("simulate: copies count as cached, with as many slots as are in flight") {
  const auto suite = family(16, 925, 20);
  const auto made = prefix::make_plan(suite, true, {});
  const auto shared = prefix::simulate(made, four_that_share, 16);
  CHECK(shared.total_cached == 15 * 925);
  CHECK(shared.group_cached == std::vector<std::uint64_t>{15 * 925});
  CHECK(shared.cached[0] == 0);
  CHECK(shared.cached[15] == 925);
  CHECK(shared.shares == 1);

  const auto alone = prefix::simulate(made, four_that_share, 1);
  CHECK(alone.total_cached == 15 * 925);
  CHECK(alone.shares == 0);

  CHECK(prefix::simulate(made, {.enabled = false}, 4).total_cached == 0);
  const auto generic = prefix::simulate(made, {}, 4);
  CHECK(generic.total_cached == 15 * 925);
  CHECK_FALSE(generic.cached[0].has_value());
}

TEST_CASE(
    "simulate: where all requests have room at once, nobody waits for what is kept at a request's end") {
  const auto made = prefix::make_plan(family(10, 925, 20), true, {});
  CHECK(prefix::simulate(made, {.entries = 10}, 16).total_cached == 0);
  CHECK(prefix::simulate(made, {.entries = 10}, 1).total_cached == 9 * 925);
}
