#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/engine/phase_events.hpp>

using namespace evalcore;
using namespace evalcore::engine;
using namespace std::chrono_literals;

namespace {

/// A request that began at 0 and whose events are kept.
struct watched {
  explicit watched(duration interval = default_progress_interval)
      : emitter([this](const phase_event& event) { events.push_back(event); }, "llama.cpp", "tiny", instant{},
                interval) {}
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;

  std::vector<phase_event> events;
  phase_emitter emitter;
};

instant at(duration after) { return instant{} + after; }

constexpr prompt_facts cold{.prompt_tokens = 1'000, .cached_tokens = 0};
constexpr prompt_facts warm{.prompt_tokens = 1'000, .cached_tokens = 600};

std::vector<std::string> keys(const phase_event& event) {
  std::vector<std::string> found;
  const auto text = to_json(event);
  for (const auto& [key, value] : *text.if_object()) found.push_back(key);
  return found;
}

}  // namespace

TEST_CASE("the first event says that the prefill begins") {
  watched w;
  w.emitter.prefill(at(20ms), cold);
  REQUIRE(w.events.size() == 1);
  CHECK(
      json::to_text(to_json(w.events[0])) ==
      R"({"kind":"llm","phase":"prefill","event_index":0,"elapsed_s":0.02,"provider":"llama.cpp","model":"tiny",)"
      R"("prompt_tokens":1000,"cached_tokens":0,"fed_tokens":1000,"generated_tokens":0})");
  w.emitter.prefill(at(40ms), cold);
  CHECK(w.events.size() == 1);
}

TEST_CASE("a prefill that begins is told of whatever the interval, and only as the first event") {
  watched late;
  late.emitter.generation(at(1s), 1);
  late.emitter.prefill(at(9s), cold);
  CHECK(late.events.size() == 1);
}

TEST_CASE("restored tokens are in place when the prefill begins") {
  watched w;
  w.emitter.prefill(at(0ms), warm);
  REQUIRE(w.events.size() == 1);
  CHECK(w.events[0].prefill_processed_tokens == 600);
  CHECK(w.events[0].cached_tokens == 600);
  CHECK(w.events[0].fed_tokens == 400);

  watched more_than_there_are;
  more_than_there_are.emitter.prefill(at(0ms), {.prompt_tokens = 100, .cached_tokens = 120});
  CHECK(more_than_there_are.events.at(0).prefill_processed_tokens == 100);
}

TEST_CASE("a cold prefill shows no number of processed tokens until one was seen") {
  watched w;
  w.emitter.prefill(at(0ms), cold);
  CHECK_FALSE(w.events.at(0).prefill_processed_tokens);
  w.emitter.prefill_at(at(600ms), 256);
  CHECK(w.events.at(1).prefill_processed_tokens == 256);
}

TEST_CASE("prefill events come no closer than the interval") {
  watched w;
  w.emitter.prefill(at(0ms), cold);
  w.emitter.prefill_at(at(100ms), 100);
  w.emitter.prefill_at(at(499ms), 200);
  CHECK(w.events.size() == 1);
  w.emitter.prefill_at(at(500ms), 300);
  CHECK(w.events.size() == 2);
  w.emitter.prefill_at(at(900ms), 400);
  CHECK(w.events.size() == 2);
  w.emitter.prefill_at(at(1'000ms), 500);
  CHECK(w.events.size() == 3);
}

TEST_CASE("a restored prefix that shows only during the prefill is told of at once") {
  watched w;
  w.emitter.prefill(at(0ms), {.prompt_tokens = 1'000});
  w.emitter.prefill_at(at(10ms), 600, warm);
  REQUIRE(w.events.size() == 2);
  CHECK(w.events[1].prefill_processed_tokens == 600);
  CHECK(w.events[1].cached_tokens == 600);
  w.emitter.prefill_at(at(20ms), 700);
  CHECK(w.events.size() == 2);
}

TEST_CASE("the processed tokens only rise, and never pass the prompt's") {
  watched w(0s);
  w.emitter.prefill(at(0ms), cold);
  w.emitter.prefill_at(at(100ms), 300);
  w.emitter.prefill_at(at(200ms), 200);
  w.emitter.prefill_at(at(300ms), 300);
  CHECK(w.events.size() == 2);
  w.emitter.prefill_at(at(400ms), 5'000);
  REQUIRE(w.events.size() == 3);
  CHECK(w.events[1].prefill_processed_tokens == 300);
  CHECK(w.events[2].prefill_processed_tokens == 1'000);
}

TEST_CASE("the prefill's rate counts from the first number that was seen") {
  watched w(0s);
  w.emitter.prefill(at(0ms), warm);
  w.emitter.prefill_at(at(1s), 600);  // Nothing new: no event, but it is the first number.
  w.emitter.prefill_at(at(3s), 850);
  REQUIRE(w.events.size() == 2);
  CHECK(w.events[1].prefill_tokens_per_second == 125.0);  // 250 tokens in 2 s.
  watched first(0s);
  first.emitter.prefill(at(0ms), cold);
  first.emitter.prefill_at(at(1s), 256);
  CHECK_FALSE(first.events.at(1).prefill_tokens_per_second);
}

TEST_CASE("progress of the computed tokens is placed after the restored ones") {
  watched w(0s);
  w.emitter.prefill(at(0ms), warm);
  w.emitter.prefill_fed(at(100ms), 100, 400);
  CHECK(w.events.at(1).prefill_processed_tokens == 700);
}

TEST_CASE("restored tokens are inferred from what is left to compute") {
  watched w;
  w.emitter.prefill(at(0ms), {.prompt_tokens = 1'000});
  w.emitter.prefill_fed(at(10ms), 0, 400);
  REQUIRE(w.events.size() == 2);
  CHECK(w.events[1].cached_tokens == 600);
  CHECK(w.events[1].fed_tokens == 400);
  CHECK(w.events[1].prefill_processed_tokens == 600);
}

TEST_CASE("progress on an unknown axis, or of numbers that contradict each other, is no event") {
  watched w(0s);
  w.emitter.prefill_at(at(100ms), 50);                                         // Of how many?
  w.emitter.prefill_fed(at(200ms), 50, 400);                                   // The same.
  w.emitter.prefill_fed(at(300ms), 50, std::nullopt, {.prompt_tokens = 300});  // After how many?
  w.emitter.prefill_fed(at(400ms), 50, 400);  // More to compute than the prompt has.
  w.emitter.prefill_at(at(500ms), -1);
  CHECK(w.events.empty());
  w.emitter.prefill_fed(at(600ms), 50, 200);
  REQUIRE(w.events.size() == 1);
  CHECK(w.events[0].prefill_processed_tokens == 150);
}

TEST_CASE("no prefill event follows the first token") {
  watched w(0s);
  w.emitter.prefill(at(0ms), cold);
  w.emitter.generation(at(1s), 1);
  w.emitter.prefill_at(at(2s), 900);
  w.emitter.prefill_fed(at(3s), 900, 1'000);
  CHECK(w.events.size() == 2);
}

TEST_CASE("the first token is told of at once and sets the time to it") {
  watched w;
  w.emitter.prefill(at(0ms), cold);
  w.emitter.generation(at(123'400us), 1);
  REQUIRE(w.events.size() == 2);
  CHECK(keys(w.events[1]) == std::vector<std::string>{"kind", "phase", "event_index", "elapsed_s", "provider",
                                                      "model", "prompt_tokens", "cached_tokens", "fed_tokens",
                                                      "ttft_s", "generated_tokens", "first_token"});
  CHECK(w.events[1].ttft_s == 0.123);
  CHECK(w.events[1].first_token);
  CHECK(w.events[1].generated_tokens == 1);
  w.emitter.generation(at(700ms), 9);
  CHECK(w.events.at(2).ttft_s == 0.123);
  CHECK_FALSE(w.events[2].first_token);
}

TEST_CASE("generation events come no closer than the interval") {
  watched w;
  for (int token = 1; token <= 21; ++token) w.emitter.generation(at(token * 100ms), token);
  std::vector<std::int64_t> told;
  for (const auto& event : w.events) told.push_back(event.generated_tokens);
  CHECK(told == std::vector<std::int64_t>{1, 6, 11, 16, 21});
}

TEST_CASE("no number of events is too many") {
  for (const int many : {500, 1'200}) {
    watched w;
    for (int token = 1; token <= many; ++token) w.emitter.generation(at(token * 500ms), token);
    w.emitter.complete(at(many * 500ms), many, "stop");
    CHECK(w.events.size() == static_cast<std::size_t>(many) + 1);
    CHECK(w.events.back().index == static_cast<std::uint64_t>(many));
  }
}

TEST_CASE("a rate needs a second token: the one given, or that since the first") {
  watched w(0s);
  w.emitter.generation(at(1s), 1, {}, 16'609.0);
  CHECK_FALSE(w.events.at(0).tokens_per_second);
  w.emitter.generation(at(3s), 9);
  CHECK(w.events.at(1).tokens_per_second == 4.0);  // 8 tokens in 2 s.
  w.emitter.generation(at(4s), 12, {}, 33.3349);
  CHECK(w.events.at(2).tokens_per_second == 33.33);
  w.emitter.complete(at(5s), 1, "stop", {}, 50.0);
  CHECK_FALSE(w.events.at(3).tokens_per_second);
}

TEST_CASE("tokens that all came at once have no rate") {
  watched w;
  w.emitter.generation(at(1s), 5);
  CHECK(w.events.at(0).generated_tokens == 5);
  CHECK_FALSE(w.events[0].tokens_per_second);
}

TEST_CASE("the last event comes exactly once, whatever the interval, and nothing after it") {
  watched w;
  w.emitter.prefill(at(0ms), cold);
  w.emitter.generation(at(1s), 1);
  w.emitter.complete(at(1'001ms), 2, "length", {}, 31.0);
  w.emitter.complete(at(2s), 3, "stop");
  w.emitter.generation(at(9s), 4);
  w.emitter.prefill_at(at(9s), 900);
  REQUIRE(w.events.size() == 3);
  CHECK(json::to_text(to_json(w.events[2])) ==
        R"({"kind":"llm","phase":"complete","event_index":2,"elapsed_s":1.001,"provider":"llama.cpp",)"
        R"("model":"tiny","prompt_tokens":1000,"cached_tokens":0,"fed_tokens":1000,"ttft_s":1.0,)"
        R"("generated_tokens":2,"final":true,"tokens_per_second":31.0,"finish_reason":"length"})");
}

TEST_CASE("a request that fails or is cancelled has a last event too") {
  watched w;
  w.emitter.complete(at(10ms), 0, "cancelled");
  REQUIRE(w.events.size() == 1);
  CHECK(w.events[0].final);
  CHECK(w.events[0].finish_reason == "cancelled");
  CHECK_FALSE(w.events[0].ttft_s);
  watched failed;
  failed.emitter.complete(at(10ms), 0, "");
  CHECK(keys(failed.events.at(0)) == std::vector<std::string>{"kind", "phase", "event_index", "elapsed_s",
                                                              "provider", "model", "generated_tokens",
                                                              "final"});
}

TEST_CASE("the prompt only grows, and a narrower measurement's rate goes with it") {
  watched w(0s);
  w.emitter.prefill(at(0ms), {.prompt_tokens = 779});
  w.emitter.generation(at(1s), 1, {.prompt_tokens = 1, .tokens_per_second = 16'000.0});
  CHECK(w.events.at(1).prompt_tokens == 779);
  CHECK_FALSE(w.events[1].prompt_tokens_per_second);
  w.emitter.generation(at(2s), 2, {.prompt_tokens = 780, .tokens_per_second = 95.128});
  CHECK(w.events.at(2).prompt_tokens == 780);
  CHECK(w.events[2].prompt_tokens_per_second == 95.13);
  w.emitter.generation(at(3s), 3, {.tokens_per_second = 50.0});
  CHECK(w.events.at(3).prompt_tokens_per_second == 50.0);
}

TEST_CASE("what was once known stays in every event that follows") {
  watched w(0s);
  w.emitter.prefill(at(0ms), warm);
  w.emitter.generation(at(1s), 1, {.tokens_per_second = 400.0});
  w.emitter.complete(at(2s), 5, "stop");
  const auto& last = w.events.back();
  CHECK(last.prompt_tokens == 1'000);
  CHECK(last.cached_tokens == 600);
  CHECK(last.fed_tokens == 400);
  CHECK(last.prompt_tokens_per_second == 400.0);
  CHECK(last.ttft_s == 1.0);
}

TEST_CASE("numbers that are none count as unknown") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  watched w(0s);
  w.emitter.prefill(at(0ms), {.prompt_tokens = -5, .cached_tokens = -1, .fed_tokens = -1});
  CHECK(keys(w.events.at(0)) == std::vector<std::string>{"kind", "phase", "event_index", "elapsed_s",
                                                         "provider", "model", "generated_tokens"});
  for (const double none : {nan, infinite, -infinite, -1.0}) {
    w.emitter.generation(at(1s), 1, {.tokens_per_second = none});
    CHECK_FALSE(w.events.back().prompt_tokens_per_second);
    w.emitter.generation(at(3s), 5, {}, none);
    CHECK(w.events.back().tokens_per_second == 2.0);
  }
  w.emitter.complete(at(4s), -7, "stop", {}, nan);
  CHECK(w.events.back().generated_tokens == 0);
  CHECK_FALSE(w.events.back().tokens_per_second);
}

TEST_CASE("a subscriber that throws is dropped for the rest of the request") {
  int calls = 0;
  phase_emitter emitter(
      [&](const phase_event&) {
        ++calls;
        throw std::runtime_error("no");
      },
      "p", "m", instant{});
  CHECK(emitter.active());
  emitter.prefill(at(0ms), cold);
  CHECK_FALSE(emitter.active());
  emitter.generation(at(1s), 1);
  emitter.complete(at(2s), 2, "stop");
  CHECK(calls == 1);
}

TEST_CASE("without a subscriber nobody listens and nothing is told") {
  phase_emitter emitter;
  CHECK_FALSE(emitter.active());
  emitter.prefill(at(0ms), cold);
  emitter.prefill_at(at(1ms), 5, cold);
  emitter.generation(at(1s), 1);
  emitter.complete(at(2s), 2, "stop");
  CHECK_FALSE(emitter.active());
}

TEST_CASE("the interval is a number of seconds, and anything else is the default") {
  CHECK(progress_interval(std::nullopt) == 500ms);
  CHECK(progress_interval("0.25") == 250ms);
  CHECK(progress_interval("0") == 0s);
  CHECK(progress_interval("2") == 2s);
  for (const std::string_view bad : {"", "-1", "nan", "inf", "1e300", "half", "0.5 s", "0,5"}) {
    CHECK(progress_interval(bad) == 500ms);
  }
}
