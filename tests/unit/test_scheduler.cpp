#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/scheduler_rig.hpp"

using namespace evalcore;
using namespace evalcore::test;

TEST_CASE("a greedy request is answered token by token and ends once") {
  rig one({}, saying("2+2=", "four"));
  auto asked = one.submit(asking("2+2=", 10));
  one.run();
  asked.read();
  CHECK(asked.text == "four");
  CHECK(asked.tokens == std::vector<engine::token>{'f', 'o', 'u', 'r'});
  CHECK(asked.answer().finish == chat::finish_reason::stop);
  CHECK(asked.answer().prompt_tokens == 4);
  CHECK(asked.answer().generation_tokens == 4);
  CHECK(asked.answer().cached_tokens == 0);
  CHECK(asked.answer().how.mode == engine::run_mode::continuous);
  CHECK(asked.read().ends == 1);
  CHECK(one.model.model.open_rows() == 0);
}

TEST_CASE("an answer that reaches max_tokens ends by length and its row goes") {
  rig one({}, saying("p", "abcdef"));
  auto asked = one.submit(asking("p", 3));
  one.run();
  CHECK(asked.answer().finish == chat::finish_reason::length);
  CHECK(asked.text == "abc");
  CHECK(one.model.model.open_rows() == 0);
  CHECK(one.model.model.counted().generated_tokens == 3);
}

TEST_CASE("a request without max_tokens gets what the context holds after its prompt") {
  engine::simulated_options small;
  small.about.context_tokens = 30;
  rig one({}, small);
  engine::request open_ended;
  open_ended.prompt = "ten bytes.";
  auto asked = one.submit(open_ended);
  open_ended.prompt = std::string(30, 'x');
  auto full = one.submit(open_ended);
  open_ended.prompt = std::string(31, 'x');
  auto over = one.submit(open_ended);
  one.run();
  CHECK(asked.answer().generation_tokens == 20);
  CHECK(asked.answer().finish == chat::finish_reason::length);
  for (auto* each : {&full, &over}) CHECK(each->read().end->error().code == errc::context_overflow);
}

TEST_CASE("a stop string across tokens ends the answer before it and frees the row") {
  rig one({}, saying("p", "yes END no more"));
  auto what = asking("p", 100);
  what.stop = {" END", "zzz"};
  auto asked = one.submit(what);
  one.run();
  CHECK(asked.answer().finish == chat::finish_reason::stop);
  CHECK(asked.answer().stop_string == " END");
  CHECK(asked.text == "yes");
  CHECK(asked.answer().generation_tokens == 7);
  CHECK(one.model.model.counted().generated_tokens == 7);
}

TEST_CASE("text that was held back for a stop string is shown when the answer ends") {
  for (const std::uint32_t most : {5U, 100U}) {
    rig one({}, saying("p", "ab EN"));
    auto what = asking("p", most);
    what.stop = {" END"};
    auto asked = one.submit(what);
    one.run();
    CHECK(asked.answer().finish == (most == 5 ? chat::finish_reason::length : chat::finish_reason::stop));
    CHECK(asked.text == "ab EN");
    CHECK(asked.answer().stop_string.empty());
  }
}

TEST_CASE("turns are rendered and plain text is not, on the engine's side") {
  rig one;
  engine::request turns;
  chat::request chat;
  chat.messages.push_back({.who = chat::role::user, .text = "hi"});
  turns.prompt = chat;
  turns.max_tokens = 4;
  auto first = one.submit(turns);
  auto plain = turns;
  plain.prompt = engine::plain_text{"hi<|end|>"};
  auto second = one.submit(plain);
  auto third = one.submit(asking("hi<|end|>"));
  CHECK(one.model.calls == 0);
  one.run();
  CHECK(first.answer().template_name == "simulated");
  CHECK(first.answer().prompt_tokens == 21);  // <|begin|> "user: hi" <|end|> "assistant: "
  CHECK(second.answer().template_name.empty());
  CHECK(second.answer().prompt_tokens == 10);  // The beginning and nine bytes.
  CHECK(third.answer().prompt_tokens == 3);
}

TEST_CASE("a prompt that cannot be rendered fails its request only, with the engine's words") {
  rig one;
  engine::request turns;
  chat::request chat;
  chat.messages.push_back({.who = chat::role::user, .text = "hi"});
  chat.tools.push_back({.name = "f"});
  turns.prompt = chat;
  auto bad = one.submit(turns);
  auto empty = one.submit(asking(""));
  auto good = one.submit(asking("p"));
  one.run();
  bad.read();
  CHECK(bad.end->error().code == errc::unsupported);
  CHECK(bad.end->error().message == "the simulated engine's template has no place for tools");
  CHECK(empty.refusal() == "invalid_request");
  CHECK(good.answer().generation_tokens == 4);
}

TEST_CASE("compatible requests share a batch and answer as they do alone") {
  rig one;
  std::vector<reader> asked;
  for (const char* prompt : {"first", "second", "a third one"})
    asked.push_back(one.submit(asking(prompt, 9)));
  one.run();
  CHECK(asked[0].answer().how.peak_batch_size == 3);
  CHECK(asked[1].answer().how.peak_batch_size == 3);
  CHECK(asked[2].answer().how.peak_batch_size == 3);
  CHECK(one.machine.stats().peak_batch_size == 3);
  CHECK(asked[0].text == alone("first", 9));
  CHECK(asked[1].text == alone("second", 9));
  CHECK(asked[2].text == alone("a third one", 9));
}

TEST_CASE("the peak batch size counts rows in one tensor batch, not requests admitted") {
  rig one({.max_width = 1});
  auto first = one.submit(asking("one"));
  auto second = one.submit(asking("two"));
  one.run();
  CHECK(one.model.most_rows == 2);
  CHECK(first.answer().how.peak_batch_size == 1);
  CHECK(second.answer().how.peak_batch_size == 1);
  CHECK(one.model.widths.front() == 1);
}

TEST_CASE("a late request prefills before the running one ends") {
  rig one;
  auto running = one.submit(asking("long", 50));
  one.steps(10);
  auto late = one.submit(asking("late", 2));
  one.steps(3);
  CHECK(late.answer().finish == chat::finish_reason::length);
  CHECK(!running.read().end.has_value());
  one.run();
  CHECK(running.answer().generation_tokens == 50);
}

TEST_CASE("no more rows run than the batch has places, and a place is taken again at once") {
  rig one({.max_batch_size = 2});
  std::vector<reader> asked;
  for (int i = 0; i < 6; ++i) asked.push_back(one.submit(asking("p" + std::to_string(i), 5)));
  one.run();
  CHECK(one.model.most_rows == 2);
  // Three pairs: a step of prefill and five tokens each.
  CHECK(one.model.widths.size() == 18);
  for (auto& each : asked) CHECK(each.answer().generation_tokens == 5);
}

TEST_CASE("an engine with fewer rows than the batch bounds it") {
  engine::simulated_options small;
  small.about.max_rows = 3;
  rig one({.max_batch_size = 8}, small);
  std::vector<reader> asked;
  for (int i = 0; i < 7; ++i) asked.push_back(one.submit(asking("p", 5)));
  one.run();
  CHECK(one.model.most_rows == 3);
  for (auto& each : asked) CHECK(each.answer().generation_tokens == 5);
}

TEST_CASE("a request that samples runs alone with its sampler and seed") {
  rig one;
  auto first = one.submit(asking("greedy", 6));
  auto second = one.submit(sampling("sampled", 6));
  auto third = one.submit(asking("greedy again", 6));
  one.run();
  CHECK(first.answer().how.mode == engine::run_mode::continuous);
  CHECK(second.answer().how.mode == engine::run_mode::exclusive);
  CHECK(third.answer().how.mode == engine::run_mode::continuous);
  CHECK(one.model.most_rows == 1);
  CHECK(one.model.opened.at(1).how.temperature == 0.7);
  CHECK(one.model.opened.at(1).how.seed == 42);
}

TEST_CASE("requests that sample share a batch where the engine samples each row") {
  engine::simulated_options able;
  able.about.per_row_sampling = true;
  rig one({}, able);
  auto first = one.submit(asking("greedy"));
  auto second = one.submit(sampling("sampled"));
  one.run();
  CHECK(first.answer().how.peak_batch_size == 2);
  CHECK(second.answer().how.mode == engine::run_mode::continuous);

  rig off({.per_row_sampling = false}, able);
  auto third = off.submit(asking("greedy"));
  auto fourth = off.submit(sampling("sampled"));
  off.run();
  CHECK(fourth.answer().how.mode == engine::run_mode::exclusive);
  CHECK(third.answer().how.peak_batch_size == 1);
}

TEST_CASE("nothing overtakes a request that cannot join what runs") {
  rig one({.max_batch_size = 4});
  std::vector<reader> asked;
  asked.push_back(one.submit(asking("a", 8)));
  asked.push_back(one.submit(sampling("b", 2)));
  asked.push_back(one.submit(asking("c", 2)));
  one.steps(4);
  CHECK(one.model.opened.size() == 1);  // "c" would fit, and waits behind "b".
  one.run();
  CHECK(one.model.opened.size() == 3);
  CHECK(one.model.opened[1].prompt == std::vector<engine::token>{'b'});
  CHECK(one.model.opened[2].prompt == std::vector<engine::token>{'c'});
  CHECK(one.model.most_rows == 1);
}

TEST_CASE("a request with a cache key and one without do not share a batch") {
  rig one;
  auto first = one.submit(asking("a", 8));
  auto keyed = asking("b", 2);
  keyed.share = engine::prefix_sharing{.key = "k"};
  auto second = one.submit(keyed);
  keyed.share->key = "another";
  auto third = one.submit(keyed);
  one.run();
  CHECK(first.answer().how.peak_batch_size == 1);
  CHECK(second.answer().how.peak_batch_size == 2);  // Two keys share one.
  CHECK(third.answer().how.peak_batch_size == 2);
}

TEST_CASE("a batch that begins waits for company for the collection window and no longer") {
  rig one;
  const auto begin = one.clock.now;
  auto first = one.submit(asking("first"));
  auto pause = one.machine.next(one.clock.now);
  REQUIRE(std::holds_alternative<engine::wait>(pause));
  CHECK(std::get<engine::wait>(pause).until == begin + 10ms);
  one.clock.now = begin + 6ms;
  auto second = one.submit(asking("second"));
  pause = one.machine.next(one.clock.now);
  REQUIRE(std::holds_alternative<engine::wait>(pause));
  CHECK(std::get<engine::wait>(pause).until == begin + 10ms);
  one.run();
  CHECK(one.clock.now == begin + 10ms);  // The work itself costs nothing here.
  CHECK(first.answer().how.peak_batch_size == 2);
  CHECK(first.answer().how.queued == 0ms);
  CHECK(second.answer().how.queued == 0ms);
}

TEST_CASE("a full batch, a barrier and a window of nothing do not wait") {
  {
    rig full({.max_batch_size = 2});
    auto first = full.submit(asking("a"));
    auto second = full.submit(asking("b"));
    const auto begin = full.clock.now;
    full.run();
    CHECK(full.clock.now == begin);
  }
  {
    rig barrier;
    auto first = barrier.submit(asking("a"));
    auto second = barrier.submit(sampling("b"));
    const auto begin = barrier.clock.now;
    barrier.steps(1);
    CHECK(barrier.clock.now == begin);
  }
  {
    rig none({.batch_wait_ms = 0});
    auto first = none.submit(asking("a"));
    const auto begin = none.clock.now;
    none.run();
    CHECK(none.clock.now == begin);
  }
}

TEST_CASE("what joins a running batch waits for no window") {
  rig one;
  auto running = one.submit(asking("a", 30));
  one.steps(5);
  const auto begin = one.clock.now;
  auto late = one.submit(asking("b", 30));
  one.steps(2);
  CHECK(one.clock.now == begin);
  CHECK(one.model.model.open_rows() == 2);
}

TEST_CASE("continuations are scored in order with what the engine says") {
  rig one;
  const auto said = alone("prompt", 3);
  auto what = asking("prompt");
  what.continuations = {{'!', '!'}, {said[0], said[1], said[2]}};
  auto asked = one.submit(what);
  one.run();
  REQUIRE(asked.answer().scores.size() == 2);
  CHECK(!asked.answer().scores[0].is_greedy);
  CHECK(asked.answer().scores[1].is_greedy);
  CHECK(asked.answer().scores[1].sum_logprob <= 0);
  CHECK(asked.tokens.empty());
  CHECK(one.model.model.open_rows() == 0);
}

TEST_CASE("log-probabilities come with the tokens if they are asked for") {
  rig one;
  auto what = asking("prompt", 2);
  what.top_logprobs = 3;
  auto asked = one.submit(what);
  one.run();
  std::vector<engine::record> records;
  static_cast<void>(asked.out->take(records));
  REQUIRE(records.size() == 2);
  const auto& first = std::get<engine::piece>(records[0]);
  CHECK(first.logprob.has_value());
  REQUIRE(first.top.size() == 3);
  CHECK(first.top[0].id == first.id);
  CHECK(one.model.opened[0].logprobs);
}
