// How requests are refused and how they end before their time.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "unit/scheduler_rig.hpp"

using namespace evalcore;
using namespace evalcore::test;

namespace {

std::string refusal_of(const result<engine::scheduler::ticket>& outcome) {
  return outcome ? "" : outcome.error().detail;
}

/// Prompts take many steps.
engine::simulated_options slow_prefill(std::uint32_t chunk, bool holds_rows) {
  engine::simulated_options how;
  how.prefill_chunk = chunk;
  how.holds_prefilling_rows = holds_rows;
  return how;
}

}  // namespace

TEST_CASE("a request is checked for its values, then the engine's end, its own, and the queue's room") {
  rig one({.max_queue_size = 1});
  auto bad = asking("p", 0);
  CHECK(refusal_of(one.try_submit(bad, true)) == "invalid_request");
  auto waiting = one.submit(asking("p"));
  CHECK(refusal_of(one.try_submit(bad)) == "invalid_request");
  CHECK(refusal_of(one.try_submit(asking("p"), true)) == "cancelled");
  CHECK(refusal_of(one.try_submit(asking("p"))) == "queue_full");
  CHECK(one.machine.stats().rejected == 1);
  CHECK(one.machine.stats().submitted == 1);
  one.machine.close();
  CHECK(refusal_of(one.try_submit(bad)) == "invalid_request");
  CHECK(refusal_of(one.try_submit(asking("p"), true)) == "runtime_closed");
  CHECK(one.machine.stats().rejected == 1);
}

TEST_CASE("a request that was cancelled before it came touches no engine and is not counted") {
  rig one;
  CHECK(refusal_of(one.try_submit(asking("p"), true)) == "cancelled");
  one.run();
  CHECK(one.model.calls == 0);
  CHECK(one.machine.stats().submitted == 0);
  CHECK(one.machine.stats().cancelled == 0);
}

TEST_CASE("what the engine cannot do is refused before it waits") {
  engine::simulated_options plain;
  plain.about.scoring = false;
  rig one({}, plain);
  auto scoring = asking("p");
  scoring.continuations = {{1}};
  CHECK(refusal_of(one.try_submit(scoring)) == "invalid_request");
  auto image = asking("p");
  image.media = {{.index = 0, .bytes = "png"}};
  CHECK(refusal_of(one.try_submit(image)) == "invalid_request");
}

TEST_CASE("the queue's bound counts what waits and not what runs") {
  rig one({.max_batch_size = 1, .max_queue_size = 2});
  auto running = one.submit(asking("a", 20));
  one.steps(3);
  auto second = one.submit(asking("b", 2));
  auto third = one.submit(asking("c", 2));
  CHECK(refusal_of(one.try_submit(asking("d"))) == "queue_full");
  CHECK(one.machine.stats().queued == 2);
  CHECK(one.machine.stats().active == 1);
  one.run();
  CHECK(running.answer().generation_tokens == 20);
  CHECK(third.answer().generation_tokens == 2);
  CHECK(one.machine.stats().completed == 3);
  CHECK(one.machine.stats().failed == 0);
}

TEST_CASE("a full queue refuses the newcomer and harms nobody who waits or runs") {
  rig one({.max_batch_size = 1, .max_queue_size = 2});
  std::vector<reader> asked;
  asked.push_back(one.submit(asking("a", 9)));
  one.steps(2);
  asked.push_back(one.submit(asking("b", 9)));
  asked.push_back(one.submit(asking("c", 9)));
  for (int i = 0; i < 5; ++i) CHECK(refusal_of(one.try_submit(asking("d", 9))) == "queue_full");
  CHECK(one.machine.stats().rejected == 5);
  one.run();
  CHECK(asked[0].read().text == alone("a", 9));
  CHECK(asked[1].read().text == alone("b", 9));
  CHECK(asked[2].read().text == alone("c", 9));
  CHECK(one.machine.stats().submitted == 3);
}

TEST_CASE("a control runs after what was submitted before it and before what comes after") {
  rig one;
  auto before = one.submit(asking("a", 5));
  const auto control = one.machine.control();
  REQUIRE(control);
  auto after = one.submit(asking("b", 5));
  one.on_control = [&] {
    CHECK(before.answer().generation_tokens == 5);
    CHECK(one.model.model.open_rows() == 0);
    CHECK(one.model.opened.size() == 1);
  };
  one.run();
  CHECK(one.controls == std::vector<engine::control_id>{*control});
  CHECK(after.answer().generation_tokens == 5);
}

TEST_CASE("choices are cut into tokens and admitted while a row is open") {
  engine::simulated_options how;
  how.cost.decode_step = 1s;
  rig one({}, how);
  auto running = one.submit(asking("a", 100));
  one.steps(11);  // Its prompt and ten tokens.
  const auto asked_at = one.clock.now;
  reader choices;
  one.on_control = [&] {
    CHECK(one.model.model.open_rows() == 1);
    auto scoring = asking("which one?");
    for (const auto* choice : {" this", " that"}) {
      auto whole = one.model.tokenize(std::string("which one?") + choice, true);
      REQUIRE(whole);
      scoring.continuations.emplace_back(whole->begin() + 10, whole->end());
    }
    choices = one.submit(std::move(scoring));
  };
  const auto cut = one.machine.aside();
  REQUIRE(cut);
  one.steps(3);  // The prompt, and each choice.
  CHECK(one.controls == std::vector<engine::control_id>{*cut});
  CHECK(choices.answer().scores.size() == 2);
  // The second that each step takes for the other row, and nothing of its 90 that are left.
  CHECK(one.clock.now == asked_at + 3s);
  CHECK_FALSE(running.read().end.has_value());
  one.run();
  CHECK(running.answer().generation_tokens == 100);
  CHECK(running.text == alone("a", 100));
}

TEST_CASE("an aside overtakes what waits, and is let go unheard where the engine is closed") {
  rig one;
  const auto control = one.machine.control();
  const auto aside = one.machine.aside();
  REQUIRE(control);
  REQUIRE(aside);
  CHECK(one.machine.stats().queued == 2);
  one.run();
  CHECK(one.controls == std::vector<engine::control_id>{*aside, *control});
  REQUIRE(one.machine.aside());
  one.machine.close();
  one.run();
  CHECK(one.stopped);
  CHECK(one.controls.size() == 2);
  CHECK(one.machine.stats().queued == 0);
}

TEST_CASE("a control needs room in the queue and an open engine") {
  rig one({.max_queue_size = 1});
  REQUIRE(one.machine.control());
  CHECK(one.machine.aside().error().detail == "queue_full");
  CHECK(one.machine.control().error().detail == "queue_full");
  CHECK(one.machine.stats().queued == 1);
  one.machine.close();
  CHECK(one.machine.control().error().detail == "runtime_closed");
  CHECK(one.machine.aside().error().detail == "runtime_closed");
}

TEST_CASE("a request expires in the queue and never once it runs") {
  engine::simulated_options slow;
  slow.cost.decode_step = 1s;
  rig one({.max_batch_size = 1, .queue_timeout_s = 5}, slow);
  auto running = one.submit(asking("a", 20));
  one.steps(2);
  auto late = one.submit(asking("b"));
  one.run();
  CHECK(running.answer().generation_tokens == 20);
  CHECK(late.refusal() == "queue_timeout");
  CHECK(late.end->error().http_status == 504);
  CHECK(late.end->error().message == "waited 5 s (queue_timeout_s) for its turn");
  CHECK(one.model.opened.size() == 1);
  CHECK(one.machine.stats().failed == 1);
}

TEST_CASE("an expired request frees its place in the queue") {
  engine::simulated_options slow;
  slow.cost.decode_step = 1s;
  rig one({.max_batch_size = 1, .max_queue_size = 1, .queue_timeout_s = 5}, slow);
  auto running = one.submit(asking("a", 100));
  one.steps(2);
  auto late = one.submit(asking("b"));
  one.clock.now += 5s;
  auto next = one.submit(asking("c"));
  CHECK(late.refusal() == "queue_timeout");
}

TEST_CASE("a request that is cancelled while it waits ends at once and frees its place") {
  rig one({.max_batch_size = 1, .max_queue_size = 1});
  auto running = one.submit(asking("a", 20));
  one.steps(2);
  auto waiting = one.submit(asking("b"));
  CHECK(!one.machine.cancel(waiting.id));
  CHECK(waiting.refusal() == "cancelled");
  CHECK(waiting.end->error().code == errc::cancelled);
  auto next = one.submit(asking("c"));
  one.run();
  CHECK(next.answer().generation_tokens == 4);
  CHECK(one.machine.stats().cancelled == 1);
  CHECK(one.model.opened.size() == 2);
}

TEST_CASE("cancelling a running request silences it at once and spares the others") {
  rig one;
  auto first = one.submit(asking("a", 20));
  auto second = one.submit(asking("b", 20));
  one.steps(6);
  CHECK(one.machine.cancel(first.id));
  CHECK(first.refusal() == "cancelled");
  CHECK(first.text.empty());  // What was there unread is not read any more.
  one.steps(1);
  CHECK(one.model.model.open_rows() == 1);
  one.run();
  CHECK(first.read().text.empty());
  CHECK(first.ends == 1);
  CHECK(second.answer().generation_tokens == 20);
  CHECK(second.text == alone("b", 20));
  CHECK(one.machine.stats().cancelled == 1);
  CHECK(one.machine.stats().completed == 1);
}

TEST_CASE("cancelling twice, after the end or what never was changes nothing") {
  rig one;
  auto asked = one.submit(asking("a"));
  one.run();
  CHECK(!one.machine.cancel(asked.id));
  CHECK(!one.machine.cancel(99));
  CHECK(asked.answer().generation_tokens == 4);
  CHECK(one.machine.stats().cancelled == 0);
}

TEST_CASE("a cancelled row that the engine cannot let go keeps its place until it can") {
  rig one({.max_batch_size = 2}, slow_prefill(10, true));
  auto first = one.submit(asking(std::string(100, 'a'), 5));
  auto second = one.submit(asking(std::string(45, 'b'), 40));
  one.steps(2);
  auto waiting = one.submit(asking("c", 3));
  CHECK(one.machine.cancel(first.id));
  CHECK(first.refusal() == "cancelled");
  one.steps(4);
  CHECK(one.model.opened.size() == 2);
  CHECK(one.machine.stats().active == 2);
  CHECK(one.model.model.counted().refused_removals > 0);
  one.run();
  CHECK(one.model.most_rows == 2);
  CHECK(second.answer().generation_tokens == 40);
  CHECK(waiting.answer().generation_tokens == 3);
  CHECK(first.read().ends == 1);
  CHECK(first.text.empty());
}

TEST_CASE("a slow reader loses its own request and no other") {
  rig one({.output_queue_size = 8});
  auto slow = one.submit(asking("a", 50));
  auto quick = one.submit(asking("b", 50));
  while (one.turn()) quick.read();
  CHECK(quick.answer().generation_tokens == 50);
  CHECK(slow.refusal() == "stream_backpressure");
  CHECK(slow.end->error().http_status == 429);
  CHECK(slow.tokens.size() == 8);  // What was held for it is read first.
  CHECK(slow.text == alone("a", 50).substr(0, 8));
  CHECK(one.machine.stats().failed == 1);
  CHECK(one.machine.stats().completed == 1);
}

TEST_CASE("an answer that just fits its reader's buffer is whole") {
  rig one({.output_queue_size = 8});
  auto asked = one.submit(asking("a", 8));
  one.run();
  CHECK(asked.answer().finish == chat::finish_reason::length);
  CHECK(asked.tokens.size() == 8);
}

TEST_CASE("sights of the prefill use half of the buffer and come before the first token") {
  rig one({.output_queue_size = 8}, slow_prefill(10, false));
  auto what = asking(std::string(95, 'a'), 8);
  what.watch_prefill = true;
  auto asked = one.submit(what);
  auto other = one.submit(asking("b", 3));
  one.steps(10);
  asked.read();
  REQUIRE(asked.prefill.size() == 4);  // Of ten.
  CHECK(asked.prefill[0].processed == 10);
  CHECK(asked.prefill[3].processed == 40);
  CHECK(asked.prefill[3].prompt_tokens == 95);
  CHECK(asked.prefill[3].cached_tokens == 0);
  one.run();
  CHECK(asked.answer().generation_tokens == 8);
  CHECK(asked.prefill.size() == 4);
  CHECK(other.read().prefill.empty());
}

TEST_CASE("a reader that keeps up sees every step of the prefill") {
  rig one({}, slow_prefill(10, false));
  auto what = asking(std::string(35, 'a'), 2);
  what.watch_prefill = true;
  auto asked = one.submit(what);
  while (one.turn()) asked.read();
  REQUIRE(asked.prefill.size() == 4);
  CHECK(asked.prefill[2].processed == 30);
  CHECK(asked.prefill[3].processed == 35);
}

TEST_CASE("a failed engine fails every request of the batch with its own error, and the next one runs") {
  rig one({.max_batch_size = 2});
  auto first = one.submit(asking("a", 20));
  auto second = one.submit(asking("b", 20));
  auto third = one.submit(asking("c", 5));
  one.steps(3);
  error why = fail(errc::backend_fault, stage::body, "the device is gone");
  why.detail = "of the engine";
  one.model.model.fail_step(why);
  one.run();
  for (auto* each : {&first, &second}) {
    CHECK(each->refusal() == "of the engine");
    CHECK(each->end->error().code == errc::backend_fault);
    CHECK(each->end->error().message == "the device is gone");
    CHECK(each->ends == 1);
  }
  CHECK(third.answer().generation_tokens == 5);
  CHECK(one.model.model.open_rows() == 0);
  CHECK(one.machine.stats().failed == 2);
}

TEST_CASE("a row that cannot be opened fails its request only") {
  engine::simulated_options small;
  small.about.context_tokens = 50;
  rig one({}, small);
  auto first = one.submit(asking("a", 5));
  auto second = one.submit(asking(std::string(60, 'b'), 5));
  auto third = one.submit(asking("c", 5));
  one.run();
  CHECK(first.answer().generation_tokens == 5);
  second.read();
  CHECK(second.end->error().code == errc::context_overflow);
  CHECK(third.answer().generation_tokens == 5);
}

TEST_CASE("an engine without room for a row gets the request when another has left") {
  rig one;
  auto first = one.submit(asking("a", 5));
  auto second = one.submit(asking("b", 5));
  // The second row finds no room once.
  while (one.model.opened.empty()) REQUIRE(one.turn());
  one.model.model.fail_open(fail(errc::busy, stage::send, "no room"));
  one.run();
  CHECK(first.answer().how.peak_batch_size == 1);
  CHECK(second.answer().how.peak_batch_size == 1);
  CHECK(second.answer().generation_tokens == 5);
}

TEST_CASE("an engine without room for the only row says so") {
  rig one;
  auto asked = one.submit(asking("a", 5));
  one.model.model.fail_open(fail(errc::busy, stage::send, "no room"));
  one.run();
  asked.read();
  CHECK(asked.end->error().code == errc::busy);
  CHECK(asked.end->error().message == "no room");
}

TEST_CASE("without max_tokens an engine must tell how much its context holds") {
  const engine::traits untold{.name = "table", .scoring = true};
  engine::scheduler machine({}, untold, nullptr);
  engine::request open_ended;
  open_ended.prompt = "a";
  CHECK(machine.submit(open_ended, false, {}).error().message ==
        "max_tokens must be given: table does not tell how much its context holds");
  open_ended.continuations = {{1}};
  CHECK(machine.submit(open_ended, false, {}).has_value());
}

TEST_CASE("closing ends what waits and what runs, then the engine is let go") {
  rig one({.max_batch_size = 1});
  auto running = one.submit(asking("a", 50));
  one.steps(4);
  auto waiting = one.submit(asking("b"));
  REQUIRE(one.machine.control());
  one.machine.close();
  one.machine.close();
  CHECK(running.refusal() == "cancelled");
  CHECK(waiting.refusal() == "cancelled");
  CHECK(one.machine.stats().closing);
  CHECK(!one.machine.stats().closed);
  CHECK(!one.stopped);
  one.run();
  CHECK(one.stopped);
  CHECK(one.model.model.open_rows() == 0);
  CHECK(one.machine.stats().closed);
  CHECK(one.controls.empty());
  CHECK(running.read().ends == 1);
  CHECK(one.machine.stats().cancelled == 2);
}

TEST_CASE("closing waits for a row that the engine cannot let go") {
  rig one({}, slow_prefill(10, true));
  auto first = one.submit(asking(std::string(50, 'a')));
  auto second = one.submit(asking(std::string(50, 'b')));
  one.steps(2);
  one.machine.close();
  const auto steps = one.model.widths.size();
  one.run();
  CHECK(one.stopped);
  CHECK(one.model.widths.size() - steps == 3);  // 30 tokens were left.
  CHECK(one.model.model.open_rows() == 0);
}

TEST_CASE("closing within the collection window opens no row") {
  rig one;
  auto asked = one.submit(asking("a"));
  REQUIRE(std::holds_alternative<engine::wait>(one.machine.next(one.clock.now)));
  one.machine.close();
  one.run();
  CHECK(one.stopped);
  CHECK(asked.refusal() == "cancelled");
  CHECK(one.model.calls == 0);
}
