#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/engine/simulated.hpp>

using namespace evalcore;
using namespace std::chrono_literals;
using engine::simulated_engine;
using engine::simulated_options;

namespace {

std::vector<engine::token> numbers(std::size_t count, engine::token from = 0) {
  std::vector<engine::token> made(count);
  std::iota(made.begin(), made.end(), from);
  return made;
}

engine::row_request asking(std::vector<engine::token> prompt, std::uint32_t max_tokens = 8) {
  engine::row_request made;
  made.prompt = std::move(prompt);
  made.max_tokens = max_tokens;
  return made;
}

/// The first tokens of a row, with others beside it, which are removed in time.
std::string answer_of(simulated_engine& model, engine::row_id row, std::size_t tokens) {
  std::string text;
  engine::step_output out;
  while (text.size() < tokens) {
    REQUIRE(model.step(256, out));
    for (const auto& made : out.tokens) {
      if (made.row == row) text += made.text;
    }
  }
  REQUIRE(model.remove(row));
  return text;
}

std::string alone(const std::vector<engine::token>& prompt, std::size_t tokens) {
  engine::virtual_clock clock;
  simulated_engine model({}, clock);
  return answer_of(model, *model.open(asking(prompt)), tokens);
}

}  // namespace

TEST_CASE("a simulated answer depends on every token of its prompt and on no other row") {
  const auto expected = alone(numbers(40), 8);
  engine::virtual_clock clock;
  simulated_engine model({}, clock);
  static_cast<void>(*model.open(asking(numbers(300, 7), 100)));
  const auto row = *model.open(asking(numbers(40)));
  CHECK(answer_of(model, row, 8) == expected);

  auto other = numbers(40);
  other.front() = 99;
  CHECK(alone(other, 8) != expected);
}

TEST_CASE("a simulated row restored from a snapshot answers as one that computed its prompt") {
  engine::virtual_clock clock;
  simulated_engine model({}, clock);
  auto first = asking(numbers(300));
  first.cuts = {256};
  const auto leader = *model.open(first);
  engine::step_output out;
  REQUIRE(model.step(1, out));
  REQUIRE(out.prefill.size() == 1);
  CHECK(out.prefill[0].processed == 256);
  CHECK(out.prefill[0].at_cut);
  auto kept = model.take_snapshot(leader);
  REQUIRE(kept);
  CHECK((*kept)->bytes() == 256 * 1024);
  CHECK(answer_of(model, leader, 8) == alone(numbers(300), 8));

  auto second = asking(numbers(280));
  second.from = *kept;
  second.restored = 256;
  const auto fed = model.counted().prompt_tokens;
  CHECK(answer_of(model, *model.open(second), 8) == alone(numbers(280), 8));
  CHECK(model.counted().prompt_tokens - fed == 24);
  CHECK(model.live_snapshots() == 1);
  second.from.reset();
  kept = std::shared_ptr<const engine::snapshot>();
  CHECK(model.live_snapshots() == 0);
}

TEST_CASE("simulated work moves the virtual clock by its cost") {
  engine::virtual_clock clock;
  simulated_options how;
  how.cost = {.prefill_token = 1ms, .decode_step = 20ms, .decode_row = 3ms, .snapshot = 7ms};
  simulated_engine model(how, clock);
  const auto begin = clock.now;
  static_cast<void>(*model.open(asking(numbers(100))));
  auto second = asking(numbers(10));
  second.cuts = {4};
  const auto row = *model.open(second);
  engine::step_output out;
  REQUIRE(model.step(4, out));  // 100 tokens, and 4 up to the cut.
  CHECK(clock.now - begin == 104ms);
  REQUIRE(model.take_snapshot(row));
  CHECK(clock.now - begin == 111ms);
  REQUIRE(model.step(4, out));  // One row decodes, 6 tokens are left of the other prompt.
  CHECK(clock.now - begin == 140ms);
  REQUIRE(model.step(1, out));  // Two rows, in a tensor batch each.
  CHECK(clock.now - begin == 186ms);
  CHECK(out.tokens.at(0).batch_rows == 1);
}

TEST_CASE("simulated rows that prefill together refuse to leave until their prompts are whole") {
  engine::virtual_clock clock;
  simulated_options how;
  how.holds_prefilling_rows = true;
  how.prefill_chunk = 10;
  simulated_engine model(how, clock);
  const auto first = *model.open(asking(numbers(25)));
  const auto second = *model.open(asking(numbers(40)));
  engine::step_output out;
  CHECK(model.remove(second));  // Nothing has begun.
  const auto third = *model.open(asking(numbers(40)));
  REQUIRE(model.step(4, out));
  CHECK(!model.remove(first));
  REQUIRE(model.step(4, out));
  REQUIRE(model.step(4, out));
  CHECK(model.remove(first));
  CHECK(!model.remove(third));
  CHECK(model.counted().refused_removals == 2);
}

TEST_CASE("a greedy simulated continuation is found greedy, and another is less likely") {
  engine::virtual_clock clock;
  simulated_engine model({}, clock);
  const auto said = alone(numbers(20), 3);
  auto asked = asking(numbers(20));
  const std::vector<engine::token> greedy(said.begin(), said.end());
  auto other = greedy;
  other[1] = other[1] == 'a' ? 'b' : 'a';
  asked.continuations = {greedy, other};
  const auto row = *model.open(asked);
  std::vector<engine::scored> scores;
  engine::step_output out;
  while (scores.size() < 2) {
    REQUIRE(model.step(1, out));
    scores.insert(scores.end(), out.scores.begin(), out.scores.end());
  }
  CHECK(scores[0].is_greedy);
  CHECK(!scores[0].last);
  CHECK(!scores[1].is_greedy);
  CHECK(scores[1].last);
  CHECK(model.remove(row));
  CHECK(model.open_rows() == 0);
}

TEST_CASE("what a simulated row may not ask for is refused and changes nothing") {
  engine::virtual_clock clock;
  simulated_options how;
  how.about.prefix_grid = 64;
  how.about.context_tokens = 400;
  how.about.max_rows = 1;
  how.about.scoring = false;
  simulated_engine model(how, clock);
  const auto refusal = [&](auto change) {
    auto asked = asking(numbers(300));
    change(asked);
    auto outcome = model.open(std::move(asked));
    REQUIRE(!outcome);
    return outcome.error().code;
  };
  CHECK(refusal([](auto& r) { r.prompt.clear(); }) == errc::invalid_argument);
  CHECK(refusal([](auto& r) { r.max_tokens = 0; }) == errc::invalid_argument);
  CHECK(refusal([](auto& r) { r.max_tokens = 101; }) == errc::context_overflow);
  CHECK(refusal([](auto& r) { r.cuts = {64, 64}; }) == errc::invalid_argument);
  CHECK(refusal([](auto& r) { r.cuts = {100}; }) == errc::invalid_argument);
  CHECK(refusal([](auto& r) { r.cuts = {320}; }) == errc::invalid_argument);
  CHECK(refusal([](auto& r) { r.restored = 64; }) == errc::invalid_argument);
  CHECK(refusal([](auto& r) { r.continuations = {{1}}; }) == errc::unsupported);
  CHECK(model.open_rows() == 0);
  REQUIRE(model.open(asking(numbers(300))));
  CHECK(refusal([](auto&) {}) == errc::busy);
}

TEST_CASE("of the memory that simulated rows share a row that scores takes its longest continuation") {
  engine::virtual_clock clock;
  simulated_options how;
  how.shared_tokens = 20;
  simulated_engine model(how, clock);
  auto scoring = asking(numbers(10), 1);
  scoring.continuations = {numbers(3), numbers(8)};  // Of the longest all but the last are held: 17.
  REQUIRE(model.open(scoring));
  CHECK(model.open(asking(numbers(3), 1)).error().code == errc::busy);
  CHECK(model.open(asking(numbers(2), 1)));
}

TEST_CASE("who breaks the contract of a simulated engine hears of it") {
  engine::virtual_clock clock;
  simulated_engine model({}, clock);
  engine::step_output out;
  CHECK_THROWS_AS(static_cast<void>(model.step(0, out)), std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(model.remove(5)), std::logic_error);
  const auto row = *model.open(asking(numbers(10), 1));
  CHECK_THROWS_AS(static_cast<void>(model.take_snapshot(row)), std::logic_error);
  REQUIRE(model.step(1, out));
  REQUIRE(model.step(1, out));  // The one token that was asked for.
  CHECK_THROWS_AS(static_cast<void>(model.step(1, out)), std::logic_error);
}

TEST_CASE("special tokens are read as such only where they are meant") {
  engine::virtual_clock clock;
  simulated_engine model({}, clock);
  chat::request asked;
  asked.messages.push_back({.who = chat::role::user, .text = "hi"});
  const auto prompt = model.render(asked);
  REQUIRE(prompt);
  CHECK(prompt->text == "<|begin|>user: hi<|end|>assistant: ");
  CHECK(prompt->template_name == "simulated");
  using tokens = std::vector<engine::token>;
  CHECK(*model.tokenize("<|begin|>hi<|end|>", true) == tokens{257, 'h', 'i', 256});
  CHECK(*model.tokenize("a<|", true) == tokens{'a', '<', '|'});
  CHECK(model.tokenize("<|end|>", false)->size() == 8);
  CHECK(model.tokenize("<|end|>", false)->front() == 257);
  asked.tools.push_back({.name = "f"});
  CHECK(model.render(asked).error().code == errc::unsupported);
}
