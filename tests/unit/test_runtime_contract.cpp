// What a runtime promises to the engines and hosts around it.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <evalcore/engine/runtime.hpp>
#include <evalcore/engine/simulated.hpp>

#include "unit/toy_step_engine.hpp"
#include "unit/wrapped_engine.hpp"

using namespace evalcore;
using namespace evalcore::engine;
using namespace std::chrono_literals;

namespace {

/// Rows that answer, at most so many at once.
std::vector<answer> answers_of(runtime& running, std::size_t count, bool share) {
  std::vector<std::unique_ptr<stream>> streams;
  for (std::size_t number = 0; number < count; ++number) {
    request asked;
    asked.prompt = std::vector<token>(100, static_cast<token>(number + 1));
    asked.max_tokens = 4;
    if (share) asked.share = prefix_sharing{.key = "k"};
    auto given = running.submit(std::move(asked));
    REQUIRE(given);
    streams.push_back(*std::move(given));
  }
  std::vector<answer> whole;
  for (auto& from : streams) {
    stream::reading got;
    while (!got.end) REQUIRE(from->read(got, 60s));
    REQUIRE(*got.end);
    whole.push_back(**got.end);
  }
  return whole;
}

std::unique_ptr<runtime> start_toy(const std::function<void(toy_step_engine&)>& spoil, options how = {},
                                   std::optional<std::uint32_t> safe_width = {}) {
  how.batch_wait_ms = 200;
  auto started = runtime::start(
      [&]() -> result<loaded_engine> {
        auto toy = std::make_unique<toy_step_engine>(16);
        spoil(*toy);
        return loaded_engine{.engine = std::move(toy), .safe_width = safe_width};
      },
      how);
  REQUIRE_MESSAGE(started, started.error().message);
  return *std::move(started);
}

std::uint32_t widest(const std::vector<answer>& all) {
  std::uint32_t most = 0;
  for (const auto& one : all) most = std::max(most, one.how.peak_batch_size);
  return most;
}

/// An engine on a clock of its own.
struct simulated_alone final : wrapped_engine {
  explicit simulated_alone(simulated_options how = {})
      : wrapped_engine(std::make_unique<simulated_engine>(std::move(how), clock)) {}
  inline static thread_local virtual_clock clock;
};

}  // namespace

TEST_CASE("a toy engine that differs by width triggers the fall-back, and says so") {
  const auto running = start_toy([](toy_step_engine& toy) { toy.wrong_from_width = 2; });
  CHECK(running->how().max_width == 1U);
  CHECK(
      running->note().starts_with("rows are computed one by one, so that an answer does not depend on the "
                                  "others: in batches of 16, row 1: token "));
  const auto whole = answers_of(*running, 4, false);
  CHECK(widest(whole) == 1);
}

TEST_CASE("a toy engine that differs from five rows on runs four together") {
  const auto running =
      start_toy([](toy_step_engine& toy) { toy.wrong_from_width = 5; }, {.max_batch_size = 8});
  CHECK(running->how().max_width == 4U);
  CHECK(widest(answers_of(*running, 8, false)) == 4);
}

TEST_CASE("an engine that changes after a restored prefix keeps none, and tells each key") {
  const auto running = start_toy([](toy_step_engine& toy) { toy.wrong_when_restored = true; });
  CHECK(running->note().starts_with("prefixes are not kept, so that "));
  const auto whole = answers_of(*running, 2, true);
  CHECK(whole[1].prefix->degraded_reason.starts_with("#FALLBACK native_apc_off: "));
  CHECK(running->prefix_stats().stores == 0);
}

TEST_CASE("an engine that is found to be the same in any company runs as wide as it is asked to") {
  const auto running = start_toy([](toy_step_engine& /*toy*/) {}, {.max_batch_size = 8});
  CHECK(running->how().max_width == 8U);
  CHECK(running->note().empty());
  CHECK(widest(answers_of(*running, 8, false)) == 8);
  CHECK(running->prefix_stats().memory_max_bytes > 0);
}

TEST_CASE("an engine that vouches for itself, or whose loader does, is not compared") {
  const auto vouched = start_toy([](toy_step_engine& toy) { toy.wrong_from_width = 2; }, {}, 16);
  CHECK(vouched->how().max_width == 4U);
  CHECK(vouched->note().empty());
  std::uint32_t computed = 0;
  const auto exact = start_toy([](toy_step_engine& toy) { toy.say_exact(); });
  CHECK(!exact->how().max_width.has_value());
  REQUIRE(exact->control([&](step_engine& model) -> result<void> {
    computed = dynamic_cast<toy_step_engine&>(model).prompt_tokens;
    return {};
  }));
  CHECK(computed == 0);
}

TEST_CASE("an engine that fails its comparison is not started") {
  const auto none = runtime::start([]() -> result<loaded_engine> {
    auto toy = std::make_unique<toy_step_engine>();
    toy->open_fault = fail(errc::backend_fault, stage::body, "the device is gone");
    return loaded_engine{.engine = std::move(toy)};
  });
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "the device is gone");
}

TEST_CASE("an engine is interrupted without a lock: it may ask the runtime what it likes") {
  struct asking_back final : wrapped_engine {
    using wrapped_engine::wrapped_engine;
    void interrupt() noexcept override { back(); }
    std::function<void()> back;
  };
  asking_back* model = nullptr;
  auto started = runtime::start(
      [&]() -> result<loaded_engine> {
        auto made = std::make_unique<asking_back>(std::make_unique<simulated_alone>());
        model = made.get();
        return loaded_engine{.engine = std::move(made)};
      },
      {.batch_wait_ms = 0, .output_queue_size = 1'000'000});
  REQUIRE(started);
  std::atomic<int> asked = 0;
  model->back = [&] {
    static_cast<void>((*started)->stats());
    ++asked;
  };
  request endless;
  endless.prompt = "a";
  endless.max_tokens = 900'000;
  auto from = (*started)->submit(endless);
  REQUIRE(from);
  stream::reading got;
  REQUIRE((*from)->read(got, 60s));
  (*from)->cancel();
  CHECK(asked == 1);
  REQUIRE((*started)->close());
  CHECK(asked == 2);
}

TEST_CASE("a host whose wake-up call throws is called again, and its request ends") {
  auto started = runtime::start(
      []() -> result<loaded_engine> { return loaded_engine{.engine = std::make_unique<simulated_alone>()}; },
      {.batch_wait_ms = 0});
  REQUIRE(started);
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto woken = std::make_shared<std::atomic<bool>>(false);
  request asked;
  asked.prompt = "a";
  asked.max_tokens = 4;
  auto from = (*started)->submit(asked, {.stop = {}, .wake = [calls, woken] {
                                           if (++*calls < 8) throw std::bad_alloc();
                                           *woken = true;
                                         }});
  REQUIRE(from);
  while (!*woken) std::this_thread::yield();
  stream::reading got;
  bool ended = false;
  while (!ended && (*from)->read(got, 60s)) ended = got.end.has_value();
  CHECK(ended);
}
