#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include <evalcore/run/noise_floor.hpp>

#include "run/answer_pairs.hpp"
#include "unit/run_fixture.hpp"

using namespace evalcore;
using test::run_fixture;

namespace {

chat::reply says(const std::string& text, std::optional<std::uint64_t> cached = {}) {
  chat::reply out;
  out.text = text;
  out.usage.cached_tokens = cached;
  return out;
}

chat::reply calls(const std::string& id, const std::string& arguments) {
  chat::reply out;
  out.calls.push_back({id, "now", arguments});
  return out;
}

score::verdict scored(double value) {
  return {.scored = true, .value = value, .extracted = {}, .reason = {}};
}

std::string line(int number, const std::string& text, int cached) {
  return R"({"match":"ask )" + std::to_string(number) + R"(.","text":")" + text +
         R"(","usage":{"prompt_tokens":30,"cached_tokens":)" + std::to_string(cached) +
         R"(,"completion_tokens":10}})" + "\n";
}

std::string forty_items() {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    const auto id = std::to_string(i);
    lines += R"({"id":"i)" + id + R"(","prompt":"ask )" + id + R"(.","target":"yes"})" + "\n";
  }
  return lines;
}

run::run_options asked_twice(std::size_t count) {
  run::run_options how;
  how.request.defaults.temperature = 0;
  how.pool.retry.retries = 0;
  how.noise_floor = count;
  return how;
}

}  // namespace

TEST_CASE("flips become a standard error of the difference between two runs") {
  // Worked by hand: 4 of 100 pairs flip, so the mean square is 0.04; over 400 items sqrt(0.04 / 400).
  run::noise_floor of{.items = 100, .pairs = 100, .changed = 9, .flips = 4, .squares = 4, .run_items = 400};
  CHECK(*of.difference_stderr() == doctest::Approx(0.01));
  // Partial credit: a half in one of 2 pairs, 50 items: sqrt(0.25 / 2 / 50).
  of = {.items = 2, .pairs = 2, .changed = 1, .flips = 1, .squares = 0.25, .run_items = 50};
  CHECK(*of.difference_stderr() == doctest::Approx(0.05));
}

TEST_CASE("where none flips there is an upper bound, and without pairs nothing is claimed") {
  // 1 - 0.025^(1/100) = 0.0362167, and sqrt(0.0362167 / 400) = 0.0095154.
  run::noise_floor of{.items = 100, .pairs = 100, .run_items = 400};
  CHECK(*of.difference_stderr() == 0);
  CHECK(*of.difference_stderr_at_most() == doctest::Approx(0.0095154).epsilon(1e-5));
  of.pairs = 0;
  CHECK_FALSE(of.difference_stderr());
  CHECK(*of.difference_stderr_at_most() == doctest::Approx(1 / std::sqrt(400.0)));
  of.run_items = 0;
  CHECK_FALSE(of.difference_stderr_at_most());
}

TEST_CASE("what differs between two answers is counted in whatever order they come") {
  run::noise_floor of;
  run::answer_pairs pairs(of);
  pairs.came(0, says("a"), scored(1));
  pairs.came(1, says("b"), scored(0));
  CHECK(of.pairs == 0);
  pairs.came(1, says("c"), scored(0));  // Another text, the same score.
  pairs.came(0, says("a"), scored(1));
  CHECK(of.pairs == 2);
  CHECK(of.changed == 1);
  CHECK(of.flips == 0);
  CHECK_FALSE(of.cache_differed);
  pairs.came(2, says("x", 0), scored(1));
  pairs.came(2, says("y", 8), scored(0.5));
  CHECK(of.changed == 2);
  CHECK(of.flips == 1);
  CHECK(of.squares == 0.25);
  CHECK(of.cache_differed == 1U);
  CHECK(of.changed_where_cache_differed == 1);
  pairs.came(3, says("x", 8), scored(1));
  pairs.came(3, says("y", 8), scored(1));
  CHECK(of.cache_differed == 1U);
}

TEST_CASE("ids of calls are no difference, arguments are, and a checker that failed makes no pair") {
  run::noise_floor of;
  run::answer_pairs pairs(of);
  pairs.came(0, calls("call_1", "{}"), scored(1));
  pairs.came(0, calls("call_2", "{}"), scored(1));
  CHECK(of.changed == 0);
  pairs.came(1, calls("call_1", "{}"), scored(1));
  pairs.came(1, calls("call_1", "{\"a\":1}"), scored(0));
  CHECK(of.changed == 1);
  pairs.came(2, says("a"), scored(1));
  pairs.came(2, says("a"), {.scored = false, .value = 0, .extracted = {}, .reason = "broke"});
  CHECK(of.pairs == 2);
}

TEST_CASE("reported: of 40 prompts that were cached the second time 18 are answered otherwise") {
  run_fixture at;
  at.suite(forty_items());
  std::string script;
  for (int i = 0; i < 40; ++i) script += line(i, "yes", 0) + line(i, i < 18 ? "no" : "yes", 29);
  at.script(script);
  const auto ran = at.run(asked_twice(1000));
  CHECK(ran.items == 40);
  CHECK(ran.answered == 40);
  CHECK(ran.sent == 80);
  CHECK(ran.cached_tokens == 40U * 29);
  REQUIRE(ran.noise_floor);
  CHECK(ran.noise_floor->items == 40);
  CHECK(ran.noise_floor->pairs == 40);
  CHECK(ran.noise_floor->changed == 18);
  CHECK(ran.noise_floor->flips == 18);
  CHECK(ran.noise_floor->cache_differed == 40U);
  CHECK(ran.noise_floor->changed_where_cache_differed == 18);
  // sqrt(18 / 40 / 40), and scipy's binomtest(18, 40) for the intervals.
  CHECK(run::noise_line(*ran.noise_floor) ==
        "noise floor: 40 of 40 items answered twice, 18 changed (45.0 %, 95 % interval 29.3 % to 61.5 %), 18 "
        "scores flipped (45.0 %, 95 % interval 29.3 % to 61.5 %); two runs differ with a standard error of "
        "0.1061, at most 0.1240; the cache held different parts of 40 prompts, and of these 18 answers "
        "changed");
  // All is in the store: nothing is sent again, and the figures are the same.
  const auto again = at.run(asked_twice(1000));
  CHECK(again.sent == 0);
  CHECK(again.score() == ran.score());
  CHECK(run::noise_line(*again.noise_floor) == run::noise_line(*ran.noise_floor));
}

TEST_CASE("a cache that never gave one answer more than the other proves nothing of hits, and that is said") {
  run_fixture at;
  at.suite(forty_items());
  at.script(R"({"text":"yes","usage":{"prompt_tokens":30,"cached_tokens":0,"completion_tokens":1}})"
            "\n");
  const auto cold = run::noise_line(*at.run(asked_twice(40)).noise_floor);
  CHECK(cold.find("no pair differed in what the cache held, so its part is not seen") != std::string::npos);
  at.script(R"({"text":"yes"})"
            "\n");
  const auto silent = run::noise_line(*at.run(asked_twice(40)).noise_floor);
  CHECK(silent.find("what the cache does to answers is unknown, as it is not reported") != std::string::npos);
}

TEST_CASE("second answers change no score and no count of items, and a run without them is whole") {
  run_fixture at;
  at.suite(forty_items());
  at.script(R"({"text":"yes"})"
            "\n");
  const auto plain = at.run([] {
    auto how = asked_twice(1);
    how.noise_floor.reset();
    return how;
  }());
  CHECK(plain.sent == 40);
  CHECK_FALSE(plain.noise_floor);
  // Only second answers are missing now.
  const auto later = at.run(asked_twice(7));
  CHECK(later.reused == 40);
  CHECK(later.answered == 40);
  CHECK(later.sent == 7);
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0] ==
        "40 of 40 items are answered in the store and reused; 0 are sent, and 7 a second time for the noise "
        "floor");
  CHECK(later.noise_floor->pairs == 7);
  CHECK(later.metrics.at(0).items == 40);
  CHECK(later.not_run == 0);
  // A larger sample has the smaller one in it.
  CHECK(at.run(asked_twice(10)).sent == 3);
}

TEST_CASE("the response cache answers first requests alone") {
  run_fixture at;
  at.script(R"({"text":"yes"})"
            "\n");
  at.suite(forty_items());
  CHECK(at.run(asked_twice(5)).sent == 45);
  at.suite(forty_items() + R"({"id":"new","prompt":"ask 1.","target":"yes"})" + "\n");
  const auto changed = at.run(asked_twice(41), {}, true);
  CHECK(changed.stood_in == 41);
  CHECK(changed.sent == 41);
  CHECK(changed.noise_floor->pairs == 41);
}

TEST_CASE("an interrupted run goes on with what is missing of both answers, and pays nothing twice") {
  run_fixture at;
  at.suite(forty_items());
  at.script(R"({"text":"yes","delay_ms":5})"
            "\n");
  std::stop_source stop;
  at.on_progress = [&](const run::progress& now) {
    CHECK(now.items == 80);
    CHECK(now.reused + now.done + now.running + now.retrying <= now.items);
    if (now.done >= 30) stop.request_stop();
  };
  auto how = asked_twice(40);
  how.pool.max_in_flight = 4;
  const auto first = at.run(how, stop.get_token());
  CHECK(first.interrupted);
  REQUIRE(first.endpoints.size() == 1);
  const auto committed = first.endpoints[0].answered;
  CHECK(committed >= 30);
  CHECK(first.noise_floor->pairs < 40);
  at.on_progress = nullptr;
  const auto again = at.run(how);
  CHECK(again.sent == 80 - committed);
  CHECK(again.answered == 40);
  CHECK(again.noise_floor->pairs == 40);
  CHECK(again.noise_floor->changed == 0);
}

TEST_CASE("a second request that fails is no item's error, and the next run asks it again") {
  run_fixture at;
  at.suite(R"({"id":"a","prompt":"ask a","target":"yes"})"
           "\n");
  const std::string yes = R"({"text":"yes"})"
                          "\n";
  at.script(yes + R"({"error":{"code":"timeout","message":"late"}})" + "\n" + yes);
  auto how = asked_twice(1);
  how.pool.max_in_flight = 1;
  const auto ran = at.run(how);
  CHECK(ran.errors == 0);
  CHECK(ran.answered == 1);
  CHECK(ran.noise_floor->pairs == 0);
  REQUIRE(at.notes.size() == 1);
  CHECK(at.notes[0] == "the second request of item \"a\" failed: late");
  const auto again = at.run(how);
  CHECK(again.sent == 1);
  CHECK(again.noise_floor->pairs == 1);
}

TEST_CASE("second answers are paid for: they count in the cost and under its bound") {
  constexpr run::price flat{1'000'000, 1'000'000, 1'000'000, 1'000'000, 1'000'000};
  constexpr run::pico_usd answer = 40'000'000;
  run_fixture at;
  at.suite(forty_items());
  at.script(R"({"text":"yes","usage":{"prompt_tokens":30,"completion_tokens":10}})"
            "\n");
  auto how = asked_twice(40);
  how.request.defaults.max_tokens = 100;
  how.pool.max_in_flight = 1;
  how.price = flat;
  how.max_cost = 50 * answer;
  const auto stopped = at.run(how);
  CHECK(stopped.stopped.find("the next request could cost more") == 0);
  CHECK(stopped.sent < 50);
  CHECK(stopped.cost->spent.least == stopped.sent * answer);
  CHECK(stopped.noise_floor->pairs < 40);
  how.max_cost = 100 * answer;
  const auto done = at.run(how);
  CHECK(done.sent == 80 - stopped.sent);
  CHECK(done.cost->spent.least == 80 * answer);
  CHECK(done.noise_floor->pairs == 40);
}
