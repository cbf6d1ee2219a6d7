// The event queue of an engine, used by many threads at once.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <evalcore/c/engine.h>

#include "toy_engine.h"

namespace {

evc_engine* started(toy_engine& toy) {
  const evc_step_engine_table table = toy_table();
  evc_engine_options* options = evc_engine_options_new();
  (void)evc_engine_options_set_batch_wait_ms(options, 0);
  evc_engine* engine = nullptr;
  REQUIRE(evc_engine_new_table(&table, &toy, options, &engine, nullptr) == EVC_OK);
  evc_engine_options_free(options);
  return engine;
}

evc_status submit(evc_engine* engine, std::string_view prompt, std::uint64_t tag) {
  evc_engine_request* request = evc_engine_request_new();
  (void)evc_engine_request_set_prompt(request, {prompt.data(), prompt.size()}, 1);
  (void)evc_engine_request_set_max_tokens(request, 12);
  const evc_status status = evc_engine_submit(engine, request, tag, nullptr, nullptr);
  evc_engine_request_free(request);
  return status;
}

}  // namespace

TEST_CASE("threads that submit and threads that poll get one end for each request") {
  constexpr std::uint64_t each = 40;
  constexpr std::uint64_t submitters = 3;
  toy_engine toy{};
  evc_engine* engine = started(toy);
  std::atomic<std::uint64_t> ended = 0;
  std::vector<std::vector<std::uint64_t>> tags(2);
  std::vector<std::thread> threads;
  for (std::uint64_t s = 0; s < submitters; ++s) {
    threads.emplace_back([&, s] {
      for (std::uint64_t i = 0; i < each; ++i) {
        while (submit(engine, "prompt " + std::to_string(i), s * each + i) == EVC_E_OVERLOADED) {
          std::this_thread::yield();
        }
      }
    });
  }
  for (auto& mine : tags) {
    threads.emplace_back([&] {
      while (ended < submitters * each) {
        evc_engine_event* event = nullptr;
        if (evc_engine_poll(engine, 20, &event) != EVC_OK) continue;
        if (evc_engine_event_kind(event) == EVC_ENGINE_EVENT_END) {
          mine.push_back(evc_engine_event_tag(event));
          ++ended;
        }
        evc_engine_event_free(event);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  evc_engine_free(engine);
  std::set<std::uint64_t> seen(tags[0].begin(), tags[0].end());
  seen.insert(tags[1].begin(), tags[1].end());
  CHECK(ended == submitters * each);
  CHECK(seen.size() == submitters * each);
  CHECK(toy.destroys == 1);
}

TEST_CASE("an engine is freed amid requests that nobody polls") {
  toy_engine toy{};
  evc_engine* engine = started(toy);
  for (std::uint64_t i = 0; i < 20; ++i) REQUIRE(submit(engine, "to be forgotten", i) == EVC_OK);
  evc_engine_free(engine);
  CHECK(toy.destroys == 1);
  CHECK(toy.snapshots == 0);
}
