#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <evalcore/run/response_cache.hpp>

#include "unit/run_fixture.hpp"

using namespace evalcore;
using test::item;
using test::run_fixture;

namespace {

run::run_options greedy() {
  run::run_options how;
  how.request.defaults.temperature = 0;
  return how;
}

chat::request at_temperature(std::optional<double> temperature, std::optional<std::int64_t> seed = {}) {
  chat::request asked;
  asked.params.temperature = temperature;
  asked.params.seed = seed;
  return asked;
}

chat::reply without(const std::vector<std::string>& dropped) {
  chat::reply given;
  given.finish = chat::finish_reason::stop;
  given.dropped = dropped;
  return given;
}

}  // namespace

TEST_CASE(
    "a suite of which lines changed sends these alone, and the others are scored by what they now say") {
  run_fixture at;
  at.script(R"({"text":"yes"})"
            "\n");
  at.suite(item("a", "yes") + item("b", "yes") + item("c", "yes"));
  CHECK(*at.run(greedy()).score() == 1);
  at.suite(item("d", "yes") + item("b", "no") + item("a", "yes"));
  const auto changed = at.run(greedy(), {}, true);
  CHECK(changed.sent == 1);
  CHECK(changed.reused == 2);
  CHECK(changed.stood_in == 2);
  CHECK(changed.answered == 3);
  CHECK(*changed.score() == doctest::Approx(2.0 / 3.0));
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0] ==
        "0 of 3 items are answered in the store and reused, 2 by replies to the same request; 1 are sent");
  // From now on these replies are the items' own.
  const auto again = at.run(greedy());
  CHECK(again.sent == 0);
  CHECK(again.reused == 3);
  CHECK(again.stood_in == 0);
  CHECK(again.score() == changed.score());
  CHECK(at.notes[0] == "3 of 3 items are answered in the store and reused; 0 are sent");
}

TEST_CASE("without the cache a changed suite is another suite, and that is said before anything is sent") {
  run_fixture at;
  at.script(R"({"text":"yes"})"
            "\n");
  at.suite(item("a", "yes"));
  CHECK(at.run(greedy()).sent == 1);
  CHECK(at.notes.empty());
  at.suite(item("a", "yes") + item("b", "yes"));
  CHECK(at.run(greedy()).sent == 2);
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0] == "0 of 2 items are answered in the store and reused; 2 are sent");
}

TEST_CASE("reported: a refusal is kept as the item's answer, and no other run is given it from the cache") {
  run_fixture at;
  at.script(R"({"text":"","finish":"content_filter"})"
            "\n");
  at.suite(item("a", "yes"));
  CHECK(at.run(greedy()).sent == 1);
  CHECK(at.run(greedy(), {}, true).reused == 1);
  at.suite(item("a", "yes") + item("b", "yes"));
  const auto again = at.run(greedy(), {}, true);
  CHECK(again.stood_in == 0);
  CHECK(again.sent == 2);
}

TEST_CASE("an answer that may be sampled stands in only where the user says so") {
  run_fixture at;
  at.script(R"({"text":"yes"})"
            "\n");
  at.suite(item("a", "yes"));
  CHECK(at.run().sent == 1);
  at.suite(item("a", "yes") + item("b", "yes"));
  CHECK(at.run({}, {}, true).stood_in == 0);
  at.suite(item("a", "yes") + item("b", "yes") + item("c", "yes"));
  run::run_options sampled;
  sampled.cache.sampled = true;
  const auto ran = at.run(sampled, {}, true);
  CHECK(ran.stood_in == 2);
  CHECK(ran.sent == 1);
}

TEST_CASE("a backend that is greedy by default has sampled nothing that was asked without a temperature") {
  run_fixture at;
  net::loop loop;
  engine::virtual_clock clock;
  const auto backend = test::open_simulated(loop, clock);
  run::run_options how;
  how.request.defaults.max_tokens = 4;
  at.suite(item("a", "yes"));
  CHECK(at.run_on(loop, *backend, how).sent == 1);
  at.suite(item("a", "yes") + item("b", "yes"));
  const auto again = at.run_on(loop, *backend, how, {}, true);
  CHECK(again.stood_in == 1);
  CHECK(again.sent == 1);
  at.suite(item("a", "yes") + item("b", "yes") + item("c", "yes"));
  how.request.defaults.temperature = 0.7;
  CHECK(at.run_on(loop, *backend, how, {}, true).stood_in == 0);
}

TEST_CASE("what may stand in: greedy or seeded, by a backend that took the field, and no refusal") {
  CHECK(run::may_stand_in(at_temperature(0), without({}), false));
  CHECK_FALSE(run::may_stand_in(at_temperature(0), without({"temperature"}), false));
  CHECK_FALSE(run::may_stand_in(at_temperature({}), without({}), false));
  CHECK_FALSE(run::may_stand_in(at_temperature(0.7), without({}), false));
  CHECK(run::may_stand_in(at_temperature(0.7, 1), without({"top_k"}), false));
  CHECK_FALSE(run::may_stand_in(at_temperature(0.7, 1), without({"seed"}), false));
  CHECK(run::may_stand_in(at_temperature(0.7), without({}), true));
  auto choosing = at_temperature({});
  choosing.choices = {"a", "b"};
  CHECK(run::may_stand_in(choosing, without({}), false));
  auto refused = without({});
  refused.refusal = "I cannot help with that.";
  CHECK_FALSE(run::may_stand_in(at_temperature(0), refused, true));
  auto filtered = without({});
  filtered.finish = chat::finish_reason::content_filter;
  CHECK_FALSE(run::may_stand_in(at_temperature(0), filtered, true));
  auto cut = without({});
  cut.finish = chat::finish_reason::length;
  CHECK(run::may_stand_in(at_temperature(0), cut, false));
}

TEST_CASE("the cache holds what each backend said apart") {
  run_fixture at;
  at.suite(item("a", "yes"));
  at.script(R"({"text":"no"})"
            "\n");
  CHECK(*at.run(greedy()).score() == 0);
  at.suite(item("a", "yes") + item("b", "yes"));
  at.script(R"({"text":"yes"})"
            "\n");
  const auto other = at.run(greedy(), {}, true);
  CHECK(other.stood_in == 0);
  CHECK(*other.score() == 1);
}

TEST_CASE("another store's replies stand in, and stay known as those of the run that asked") {
  run_fixture at;
  at.script(R"({"text":"yes"})"
            "\n");
  at.suite(item("a", "yes"));
  const auto paid = at.run(greedy());
  at.use_store("second.db");
  {
    const auto first = run::store::open(at.path("run.db"));
    REQUIRE(first);
    CHECK(at.run(greedy(), {}, true, &*first).stood_in == 1);
  }
  at.use_store("third.db");
  const auto second = run::store::open(at.path("second.db"));
  REQUIRE(second);
  const auto last = at.run(greedy(), {}, false, &*second);
  CHECK(last.sent == 0);
  CHECK(last.stood_in == 1);
  const auto third = run::store::open(at.path("third.db"));
  REQUIRE(third);
  const auto suite = run::suite::open(at.path("suite.jsonl"));
  REQUIRE(suite);
  const auto request = run::prepare(*suite->get(0), greedy().request);
  REQUIRE(request);
  const auto key = run::cache_key(last.backend.identity, "", run::canonical_text(*request), 0);
  const auto found = third->find_earlier(key, [](const chat::reply&) { return true; });
  REQUIRE(found);
  REQUIRE(found->has_value());
  CHECK((*found)->run_id == paid.run_id);
  CHECK((*found)->reply.text == "yes");
}
