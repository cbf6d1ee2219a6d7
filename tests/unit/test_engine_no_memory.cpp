// The engine's thread without memory: requests end, and the process goes on.
#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <evalcore/engine/runtime.hpp>
#include <evalcore/engine/simulated.hpp>

#include "unit/failing_new.hpp"

using namespace evalcore;
using namespace evalcore::engine;
using evalcore::test::failing_new;
using namespace std::chrono_literals;

namespace {

request asking(char letter) {
  request asked;
  asked.prompt = std::string(40, 's') + std::string(20, letter);
  asked.max_tokens = 6;
  asked.stop = {"never to be found, and longer than a short string"};
  asked.logprobs = true;
  asked.top_logprobs = 2;
  asked.watch_prefill = true;
  asked.share = prefix_sharing{.key = "k", .cuts = std::vector<std::uint32_t>{20, 40}};
  if (letter == 'c') asked.continuations = {{1, 2, 3}, {4}};
  return asked;
}

struct outcome {
  std::string text;
  std::optional<result<answer>> end;
};

outcome read_all(stream& from) {
  outcome made;
  stream::reading got;
  while (!made.end && from.read(got, 60s)) {
    for (const auto& one : got.records) {
      if (const auto* shown = std::get_if<piece>(&one)) made.text += shown->text;
    }
    made.end = std::move(got.end);
  }
  if (made.end && *made.end) made.text += (*made.end)->tail;
  return made;
}

std::unique_ptr<runtime> must_start() {
  static virtual_clock clock;  // One engine at a time.
  simulated_options how;
  how.prefill_chunk = 16;
  auto started = runtime::start(
      [&]() -> result<loaded_engine> {
        failing_new::watched = true;
        return loaded_engine{.engine = std::make_unique<simulated_engine>(how, clock)};
      },
      {.max_batch_size = 2, .batch_wait_ms = 0});
  REQUIRE(started);
  return *std::move(started);
}

const std::map<char, std::string>& texts_alone() {
  static const auto texts = [] {
    const auto running = must_start();
    std::map<char, std::string> all;
    for (const char letter : {'a', 'b', 'c', 'd'})
      all[letter] = read_all(**running->submit(asking(letter))).text;
    return all;
  }();
  return texts;
}

/// Whether any allocation failed.
bool run_without(long first, long count) {
  const auto running = must_start();
  failing_new::arm(first, count);
  std::map<char, std::unique_ptr<stream>> streams;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    auto given = running->submit(asking(letter));
    REQUIRE(given);
    streams[letter] = *std::move(given);
  }
  std::size_t answered = 0;
  for (auto& [letter, from] : streams) {
    const auto read = read_all(*from);
    REQUIRE(read.end.has_value());
    if (*read.end) {
      ++answered;
      REQUIRE(read.text == texts_alone().at(letter));
      continue;
    }
    REQUIRE(read.end->error().code == errc::no_memory);
  }
  const auto cleared = running->clear_prefixes();
  REQUIRE((cleared.has_value() || cleared.error().code == errc::no_memory));
  const bool came = failing_new::disarm();
  if (!came) REQUIRE(answered == 4);
  REQUIRE(read_all(**running->submit(asking('a'))).text == texts_alone().at('a'));
  REQUIRE(running->close());
  const auto stats = running->stats();
  REQUIRE(stats.submitted == 5);
  REQUIRE(stats.completed == answered + 1);
  REQUIRE(stats.failed == 4 - answered);
  REQUIRE(stats.active == 0);
  return came;
}

}  // namespace

TEST_CASE("whichever allocation of the engine's thread fails, requests end and the next one is answered") {
  long number = 1;
  while (run_without(number, 1)) ++number;
  CHECK(number > 100);
}

TEST_CASE("without any memory for a while, requests end and the next one is answered") {
  for (long number = 1; run_without(number, 40); number += 3) {
  }
}

TEST_CASE("an engine that finds no memory at its start is not started, and says so") {
  static virtual_clock clock;
  long number = 1;
  for (; number < 1'000; ++number) {
    auto started = runtime::start([&]() -> result<loaded_engine> {
      failing_new::watched = true;
      failing_new::arm(number, 1);
      simulated_options how;
      how.about.exact = false;
      how.about.prefix_grid = 64;
      return loaded_engine{.engine = std::make_unique<simulated_engine>(how, clock)};
    });
    const bool came = failing_new::disarm();
    if (!came) {
      CHECK(started.has_value());
      break;
    }
    REQUIRE_FALSE(started);
    REQUIRE(started.error().code == errc::no_memory);
  }
  CHECK(number > 100);
}

namespace {

/// What waits for company does so for a second.
std::unique_ptr<runtime> must_start_slow(std::uint32_t batch_wait_ms) {
  static virtual_clock clock;
  auto started = runtime::start(
      []() -> result<loaded_engine> {
        return loaded_engine{.engine = std::make_unique<simulated_engine>(simulated_options{}, clock)};
      },
      {.max_batch_size = 2, .batch_wait_ms = batch_wait_ms});
  REQUIRE(started);
  return *std::move(started);
}

/// Calls `what` on this thread while the allocation of that number fails. True: it threw.
template <class Work>
bool throws_without(long number, bool& came, const Work& what) {
  bool threw = false;
  failing_new::arm(number, 1);
  failing_new::watched = true;
  try {
    what();
  } catch (const std::bad_alloc&) {
    threw = true;
  }
  failing_new::watched = false;
  came = failing_new::disarm();
  return threw;
}

}  // namespace

TEST_CASE("a request whose host has no memory for its stream does not run on") {
  bool came = true;
  for (long number = 1; came; ++number) {
    const auto running = must_start_slow(1'000);
    std::stop_source stop;
    auto asked = asking('a');
    std::optional<result<std::unique_ptr<stream>>> given;
    const bool threw = throws_without(number, came, [&] {
      given.emplace(running->submit(std::move(asked), {.stop = stop.get_token(), .wake = {}}));
    });
    REQUIRE(threw == came);
    if (!threw) REQUIRE(given->has_value());
    given.reset();
    const auto stats = running->stats();
    REQUIRE(stats.submitted == stats.cancelled);
  }
}

TEST_CASE("the end of an answer is read even where no memory is left") {
  bool came = true;
  for (long number = 1; came; ++number) {
    const auto running = must_start_slow(0);
    auto given = running->submit(asking('a'));
    REQUIRE(given);
    while (running->stats().completed == 0) std::this_thread::sleep_for(1ms);
    stream::reading got;
    REQUIRE_FALSE(throws_without(number, came, [&] { static_cast<void>((*given)->read(got)); }));
    REQUIRE(got.end.has_value());
    REQUIRE(got.end->has_value());
  }
}
