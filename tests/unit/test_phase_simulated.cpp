// Phases of requests on the simulated engine, under its clock.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/engine/phase_watch.hpp>

#include "unit/shared_prompts.hpp"

using namespace evalcore;
using namespace evalcore::test;
using engine::phase;

namespace {

/// A request, what its subscriber heard, and when.
class followed {
 public:
  followed(rig& on, engine::request what)
      : on_(on),
        watch_(engine::phase_emitter([this](const engine::phase_event& one) { events.push_back(one); },
                                     "simulated", "toy", on.clock.now)) {
    what.watch_prefill = true;
    asked_ = on.submit(std::move(what));
  }
  followed(const followed&) = delete;
  followed& operator=(const followed&) = delete;

  void read() {
    std::vector<engine::record> records;
    const auto end = asked_.out->take(records);
    for (const auto& one : records) watch_.saw(one, on_.clock.now);
    if (end) watch_.ended(*end, on_.clock.now);
  }
  [[nodiscard]] engine::job_id id() const { return asked_.id; }

  std::vector<engine::phase_event> events;

 private:
  rig& on_;
  engine::phase_watch watch_;
  reader asked_;
};

/// A second for ten tokens of a prompt, a fifth of one for a token of an answer.
engine::simulated_options slow() {
  auto how = on_grid(1);
  how.prefill_chunk = 10;
  how.cost = {.prefill_token = 100ms, .decode_step = 200ms, .decode_row = 0ms, .snapshot = 0ms};
  return how;
}

void run(rig& one, const std::vector<followed*>& readers) {
  while (one.turn()) {
    for (auto* each : readers) each->read();
  }
  for (auto* each : readers) each->read();
}

std::vector<std::int64_t> processed_in(const std::vector<engine::phase_event>& events) {
  std::vector<std::int64_t> all;
  for (const auto& one : events) {
    if (one.what == phase::prefill) all.push_back(one.prefill_processed_tokens.value_or(-1));
  }
  return all;
}

}  // namespace

TEST_CASE("a cold request tells its prefill, its first token, its answer and its end, each in its time") {
  rig one({.batch_wait_ms = 0}, slow());
  followed asked(one, asking(std::string(95, 'a'), 6));
  run(one, {&asked});
  // After the first second the prefill is told to have begun; then once a second, and half of one at last.
  CHECK(processed_in(asked.events) == std::vector<std::int64_t>{-1, 20, 30, 40, 50, 60, 70, 80, 90, 95});
  REQUIRE(asked.events.size() == 13);
  for (std::size_t index = 0; index < asked.events.size(); ++index) CHECK(asked.events[index].index == index);
  CHECK(asked.events[1].elapsed_s == 2.0);
  CHECK(asked.events[1].prefill_tokens_per_second == 10.0);
  CHECK(asked.events[1].prompt_tokens == 95);
  CHECK(asked.events[9].elapsed_s == 9.5);
  const auto& first = asked.events[10];
  CHECK(first.what == phase::generate);
  CHECK(first.first_token);
  CHECK(first.elapsed_s == 9.7);
  CHECK(first.ttft_s == 9.7);
  CHECK_FALSE(first.tokens_per_second.has_value());
  const auto& fourth = asked.events[11];  // The next after half a second.
  CHECK(fourth.generated_tokens == 4);
  CHECK(fourth.elapsed_s == 10.3);
  CHECK(fourth.tokens_per_second == 5.0);
  const auto& last = asked.events[12];
  CHECK(last.what == phase::complete);
  CHECK(last.final);
  CHECK(last.finish_reason == "length");
  CHECK(last.generated_tokens == 6);
  CHECK(last.elapsed_s == 10.7);
  CHECK(last.tokens_per_second == 5.0);
  CHECK(last.prompt_tokens_per_second == 9.79);  // 95 in 9.7 s.
}

TEST_CASE("a restored prefix is told of with the first event, and counts as processed and not as fed") {
  rig one({.batch_wait_ms = 0}, slow(), roomy());
  followed leader(one, sharing(std::string(90, 's') + "0123456789", {{90}}, 1));
  run(one, {&leader});
  followed asked(one, sharing(std::string(90, 's') + "abcdefghijklmno", {{}}, 1));
  run(one, {&asked});
  CHECK(processed_in(asked.events) == std::vector<std::int64_t>{90, 105});
  CHECK(asked.events[0].cached_tokens == 90);
  CHECK(asked.events[0].fed_tokens == 15);
  CHECK(asked.events[0].prompt_tokens == 105);
  CHECK(leader.events[0].cached_tokens == 0);
}

TEST_CASE("events that only tell of going on come no closer than half a second, on a fast engine too") {
  auto how = slow();
  how.cost.prefill_token = 1ms;
  how.cost.decode_step = 7ms;
  rig one({.batch_wait_ms = 0}, how);
  followed asked(one, asking(std::string(3'000, 'a'), 400));
  run(one, {&asked});
  REQUIRE(asked.events.size() > 8);
  for (std::size_t index = 1; index + 1 < asked.events.size(); ++index) {
    if (asked.events[index].first_token) continue;
    CHECK(asked.events[index].elapsed_s - asked.events[index - 1].elapsed_s >= 0.4995);  // Three decimals.
  }
  // 3 s of prefill and 2.8 s of answer, and what is told at once: the beginning, the first token, the end.
  CHECK(asked.events.size() <= 3 + 6 + 5);
}

TEST_CASE("an answer of 1,200 slow tokens has as many events: their number has no bound") {
  auto how = slow();
  how.cost.decode_step = 1s;
  rig one({.batch_wait_ms = 0}, how);
  followed asked(one, asking("a", 1'200));
  run(one, {&asked});
  CHECK(asked.events.size() == 1 + 1'200 + 1);
  CHECK(asked.events[1'200].generated_tokens == 1'200);
  CHECK(asked.events.back().index == 1'201);
}

TEST_CASE("rows of different lengths that prefill together each tell their own place, which only rises") {
  rig one({.max_batch_size = 3, .batch_wait_ms = 0}, slow());
  followed whole(one, asking(std::string(25, 'a'), 1));
  followed half(one, asking(std::string(12, 'b'), 1));
  followed warm(one, asking(std::string(40, 'c'), 1));
  run(one, {&whole, &half, &warm});
  CHECK(processed_in(whole.events) == std::vector<std::int64_t>{-1, 20, 25});
  CHECK(processed_in(half.events) == std::vector<std::int64_t>{-1, 12});
  CHECK(processed_in(warm.events) == std::vector<std::int64_t>{-1, 20, 30, 40});
  for (auto* each : {&whole, &half, &warm}) CHECK(each->events.back().final);
}

TEST_CASE("a slow subscriber hears of half of its queue in prefill, and of the whole answer") {
  rig one({.batch_wait_ms = 0, .output_queue_size = 8}, slow());
  followed asked(one, asking(std::string(95, 'a'), 4));
  one.steps(10);  // The prompt.
  asked.read();
  one.steps(4);
  one.run();
  asked.read();
  REQUIRE(asked.events.size() >= 2);
  CHECK(asked.events[0].what == phase::prefill);
  CHECK(asked.events.back().final);
  CHECK(asked.events.back().generated_tokens == 4);
  for (const auto& one_of : asked.events) CHECK(one_of.prefill_processed_tokens.value_or(0) <= 40);
}

TEST_CASE("a request that fails, is cancelled or waits too long has its last event, and only one") {
  rig one({.max_batch_size = 1, .batch_wait_ms = 0, .queue_timeout_s = 30}, slow());
  followed failed(one, asking(std::string(50, 'a'), 5));
  followed late(one, asking(std::string(50, 'b'), 5));
  for (int step = 0; step < 3; ++step) {
    one.steps(1);
    failed.read();
  }
  one.model.model.fail_step(fail(errc::backend_fault, stage::body, "the device is gone"));
  one.steps(1);
  failed.read();
  REQUIRE(failed.events.back().final);
  CHECK(failed.events.back().finish_reason.empty());
  one.steps(2);
  late.read();
  CHECK(one.machine.cancel(late.id()));
  late.read();
  REQUIRE(late.events.back().final);
  CHECK(late.events.back().finish_reason == "cancelled");
  followed running(one, asking("c", 500));
  one.steps(2);
  followed waiting(one, asking("d", 1));
  run(one, {&running, &waiting, &failed, &late});
  CHECK(waiting.events.size() == 1);
  for (auto* each : {&failed, &late, &running, &waiting})
    CHECK(std::ranges::count(each->events, true, &engine::phase_event::final) == 1);
}

TEST_CASE("a request without a subscriber is not watched, and its reader gets its answer alone") {
  rig one({.batch_wait_ms = 0}, slow());
  auto asked = one.submit(asking(std::string(95, 'a'), 4));
  one.run();
  CHECK(asked.answer().generation_tokens == 4);
  CHECK(asked.prefill.empty());
  engine::phase_watch nobody;
  CHECK_FALSE(nobody.active());
}
