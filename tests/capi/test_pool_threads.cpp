// A pool used by many threads at once.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <evalcore/c/pool.h>

namespace {

evc_str str(std::string_view text) { return {text.data(), text.size()}; }

evc_pool* pool_on_script() {
  evc_runtime* runtime = nullptr;
  REQUIRE(evc_runtime_new(&runtime, nullptr) == EVC_OK);
  evc_backend_options* options = evc_backend_options_new();
  REQUIRE(evc_backend_options_set_script(options, str(EVALCORE_TEST_DATA "/capi/script.jsonl")) == EVC_OK);
  evc_backend* backend = nullptr;
  REQUIRE(evc_backend_open(runtime, str("scripted"), options, &backend, nullptr) == EVC_OK);
  evc_backend_options_free(options);
  evc_pool* pool = nullptr;
  REQUIRE(evc_pool_new(runtime, &backend, 1, nullptr, &pool, nullptr) == EVC_OK);
  evc_backend_free(backend);
  evc_runtime_free(runtime);
  return pool;
}

/// The ticket; 0: it was not accepted.
std::uint64_t submit(evc_pool* pool, std::string_view says, std::uint64_t tag) {
  evc_request* request = evc_request_new();
  (void)evc_request_add_message(request, EVC_ROLE_USER, str(says));
  (void)evc_request_set_stream(request, 1);
  std::uint64_t ticket = 0;
  (void)evc_pool_submit(pool, request, tag, &ticket, nullptr);
  evc_request_free(request);
  return ticket;
}

}  // namespace

TEST_CASE("threads that submit, cancel and poll get one END for each request, before DRAINED") {
  constexpr std::uint64_t producers = 4;
  constexpr std::uint64_t each = 40;
  evc_pool* pool = pool_on_script();
  std::atomic<std::uint64_t> hooked = 0;
  REQUIRE(evc_pool_set_wakeup(
              pool, [](void* count) { ++*static_cast<std::atomic<std::uint64_t>*>(count); }, &hooked) ==
          EVC_OK);
  std::vector<std::atomic<int>> ends(producers * each);
  std::atomic<std::uint64_t> ended = 0;
  std::atomic<int> drained = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> pollers;
  for (int i = 0; i < 3; ++i) {
    pollers.emplace_back([&] {
      evc_event* event = nullptr;
      for (;;) {
        const evc_status status = evc_pool_poll(pool, 20'000, &event);
        if (status == EVC_E_CLOSED) return;
        if (status != EVC_OK) continue;
        if (evc_event_kind(event) == EVC_EVENT_END) {
          ++ends[evc_event_tag(event)];
          ++ended;
        } else if (evc_event_kind(event) == EVC_EVENT_DRAINED) {
          ++drained;
        }
        evc_event_free(event);
      }
    });
  }
  std::vector<std::thread> threads;
  for (std::uint64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      for (std::uint64_t i = 0; i < each; ++i) {
        const auto ticket = submit(pool, i % 5 == 0 ? "slow" : i % 3 == 0 ? "soon" : "hi", p * each + i);
        if (ticket == 0) ++refused;
        if (i % 5 == 0) (void)evc_pool_cancel(pool, ticket);
        if (i % 10 == 0) (void)evc_pool_set_concurrency(pool, 4 + static_cast<std::uint32_t>(p));
        if (i % 7 == 0) (void)evc_pool_wake(pool);
      }
    });
  }
  for (auto& one : threads) one.join();
  CHECK(evc_pool_shutdown(pool, 0) == EVC_OK);
  for (auto& one : pollers) one.join();
  CHECK(refused == 0);
  CHECK(ended == producers * each);
  for (const auto& one : ends) CHECK(one == 1);
  CHECK(drained == 1);
  CHECK(hooked > 0);
  evc_pool_free(pool);
}

TEST_CASE("a pool that is freed while much is in flight waits for no answer") {
  evc_pool* pool = pool_on_script();
  for (std::uint64_t i = 0; i < 100; ++i) CHECK(submit(pool, "slow", i) != 0);
  const auto began = std::chrono::steady_clock::now();
  evc_pool_free(pool);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
}
