#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/engine/phase_watch.hpp>
#include <evalcore/engine/refusal.hpp>

using namespace evalcore;
using namespace evalcore::engine;
using namespace std::chrono_literals;

namespace {

struct watched {
  watched() = default;
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;

  void read(duration at, const std::vector<record>& records,
            const std::optional<result<answer>>& end = std::nullopt) {
    for (const auto& one : records) watch.saw(one, instant{} + at);
    if (end) watch.ended(*end, instant{} + at);
  }

  std::vector<phase_event> events;
  phase_watch watch{phase_emitter([this](const phase_event& event) { events.push_back(event); }, "toy",
                                  "bytes", instant{})};
};

}  // namespace

TEST_CASE("a stream's records become the phases of its request") {
  watched w;
  CHECK(w.watch.active());
  w.read(10ms, {prefill_seen{40, 100, 40}, prefill_seen{60, 100, 40}});
  w.read(700ms, {prefill_seen{80, 100, 40}});
  w.read(900ms, {piece{}, piece{}});
  w.read(1'500ms, {piece{}});
  answer whole;
  whole.finish = chat::finish_reason::length;
  whole.prompt_tokens = 100;
  whole.cached_tokens = 40;
  whole.generation_tokens = 3;
  whole.how.prompt_tokens_per_second = 75.0;
  whole.how.generation_tokens_per_second = 3.5;
  w.read(1'600ms, {}, whole);
  REQUIRE(w.events.size() == 5);
  CHECK(w.events[0].what == phase::prefill);
  CHECK(w.events[0].prefill_processed_tokens == 40);
  CHECK(w.events[0].fed_tokens == 60);
  CHECK(w.events[1].what == phase::prefill);
  CHECK(w.events[1].prefill_processed_tokens == 80);
  CHECK(w.events[2].first_token);
  CHECK(w.events[2].ttft_s == 0.9);
  CHECK(w.events[3].generated_tokens == 3);
  CHECK(w.events[4].final);
  CHECK(w.events[4].finish_reason == "length");
  CHECK(w.events[4].generated_tokens == 3);
  CHECK(w.events[4].tokens_per_second == 3.5);
  CHECK(w.events[4].prompt_tokens_per_second == 75.0);
}

TEST_CASE("a cancelled stream ends as cancelled, a failed one without a reason") {
  watched cancelled;
  cancelled.read(1s, {piece{}}, result<answer>(refused(refusal::cancelled, "by the host")));
  REQUIRE(cancelled.events.size() == 2);
  CHECK(cancelled.events[1].final);
  CHECK(cancelled.events[1].finish_reason == "cancelled");
  CHECK(cancelled.events[1].generated_tokens == 1);

  watched failed;
  failed.read(1s, {}, result<answer>(refused(refusal::backend_error, "broken")));
  REQUIRE(failed.events.size() == 1);
  CHECK(failed.events[0].final);
  CHECK(failed.events[0].finish_reason.empty());

  watched slow;
  slow.read(1s, {}, result<answer>(refused(refusal::stream_backpressure, "read faster")));
  REQUIRE(slow.events.size() == 1);
  CHECK(slow.events[0].finish_reason.empty());
}

TEST_CASE("without a subscriber a stream is not looked at") {
  phase_watch watch;
  watch.saw(piece{}, instant{});
  CHECK_FALSE(watch.active());
}
