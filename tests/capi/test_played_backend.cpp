// A backend that the host plays: what it must not be asked, and what it may say.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include <evalcore/evalcore.h>

#include "unit/temporary_folder.hpp"

namespace {

evc_str str(std::string_view text) { return {text.data(), text.size()}; }

constexpr std::string_view completion =
    R"({"choices": [{"message": {"role": "assistant", "content": "so"}, "finish_reason": "stop"}]})";

struct host {
  host() {
    REQUIRE(evc_runtime_new(&runtime, nullptr) == EVC_OK);
    REQUIRE(evc_backend_new_host(runtime, str("mine"), str(""), &played, nullptr) == EVC_OK);
    REQUIRE(evc_pool_new(runtime, &played, 1, nullptr, &pool, nullptr) == EVC_OK);
  }
  ~host() {
    evc_pool_free(pool);
    evc_backend_free(played);
    evc_runtime_free(runtime);
  }
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  struct numbers {
    std::uint64_t in_pool;
    std::uint64_t asked;
  };

  /// Asks through the pool, and hears it.
  [[nodiscard]] numbers ask(std::string_view params = "{}") const {
    numbers made{};
    evc_request* request = evc_request_new();
    REQUIRE(evc_request_add_message(request, EVC_ROLE_USER, str("What is it?")) == EVC_OK);
    REQUIRE(evc_request_set_params(request, str(params), nullptr) == EVC_OK);
    REQUIRE(evc_pool_submit(pool, request, 0, &made.in_pool, nullptr) == EVC_OK);
    evc_request_free(request);
    evc_event* event = nullptr;
    REQUIRE(evc_backend_poll(played, 20'000, &event) == EVC_OK);
    REQUIRE(evc_event_kind(event) == EVC_EVENT_ASKED);
    made.asked = evc_event_ticket(event);
    evc_event_free(event);
    return made;
  }

  evc_runtime* runtime = nullptr;
  evc_backend* played = nullptr;
  evc_pool* pool = nullptr;
};

}  // namespace

TEST_CASE("a suite with choices is refused by a backend that a host plays, before anything is asked") {
  const host one;
  const evalcore::test::temporary_folder folder;
  const std::string file = folder.write(
      "suite.jsonl", R"({"id": "a", "prompt": "Answer:", "choices": [" 1", " 2"], "target": 0})");
  const std::string out = folder / "out";
  evc_suite* suite = nullptr;
  REQUIRE(evc_suite_open(str(file), str(""), &suite, nullptr) == EVC_OK);
  evc_run_options* options = evc_run_options_new();
  REQUIRE(evc_run_options_set_out(options, str(out)) == EVC_OK);
  evc_run* run = nullptr;
  REQUIRE(evc_run_start(one.runtime, suite, &one.played, 1, options, &run, nullptr) == EVC_OK);
  bool refused = false;
  evc_event* asked = nullptr;
  while (asked == nullptr) {
    evc_event* event = nullptr;
    if (evc_run_poll(run, 100, &event) == EVC_E_CLOSED) break;
    if (evc_event_kind(event) == EVC_EVENT_RUN_END) {
      const evc_str words = evc_error_message(evc_event_error(event));
      refused =
          std::string_view(words.data, words.size).find("choices cannot be scored") != std::string_view::npos;
    }
    evc_event_free(event);
    (void)evc_backend_poll(one.played, 0, &asked);
  }
  CHECK(refused);
  CHECK(asked == nullptr);
  evc_event_free(asked);
  evc_run_free(run);
  evc_run_options_free(options);
  evc_suite_free(suite);
}

TEST_CASE("a host that plays a backend cannot cancel what it is asked") {
  const host one;
  const auto ticket = one.ask().asked;
  CHECK(evc_backend_fail(one.played, ticket, EVC_E_CANCELLED, str("no")) == EVC_E_INVALID_ARGUMENT);
  CHECK(evc_backend_answer(one.played, ticket, str(completion), nullptr) == EVC_OK);
  evc_event* event = nullptr;
  REQUIRE(evc_pool_poll(one.pool, 20'000, &event) == EVC_OK);
  CHECK(evc_event_error(event) == nullptr);
  evc_event_free(event);
}

TEST_CASE("a reply of a host tells what of the request the host was not shown") {
  const host one;
  const auto ticket = one.ask(R"({"thinking": {"type": "enabled", "budget_tokens": 2048}})").asked;
  REQUIRE(evc_backend_answer(one.played, ticket, str(completion), nullptr) == EVC_OK);
  evc_event* event = nullptr;
  REQUIRE(evc_pool_poll(one.pool, 20'000, &event) == EVC_OK);
  const evc_str whole = evc_reply_json(evc_event_reply(event));
  CHECK(std::string_view(whole.data, whole.size).find(R"("thinking_budget")") != std::string_view::npos);
  evc_event_free(event);
}

TEST_CASE("the hook of a backend that a host played is not called once that is freed") {
  host one;
  const auto first = one.ask();
  const auto second = one.ask();
  const auto withdrawn = one.ask();
  std::atomic<int> heard = 0;
  REQUIRE(evc_backend_set_wakeup(
              one.played, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &heard) == EVC_OK);
  // Holds evalcore's thread at each END until the test lets it go.
  struct door {
    std::atomic<int> reached = 0;
    std::atomic<int> opened = 0;

    void pass() {
      const int turn = ++reached;
      reached.notify_all();
      for (int now = opened; now < turn; now = opened) opened.wait(now);
    }
    void open() {
      ++opened;
      opened.notify_all();
    }
  } held;
  REQUIRE(evc_pool_set_wakeup(one.pool, [](void* at) { static_cast<door*>(at)->pass(); }, &held) == EVC_OK);
  const auto end = [&one] {
    evc_event* event = nullptr;
    CHECK(evc_pool_poll(one.pool, 20'000, &event) == EVC_OK);
    evc_event_free(event);
  };

  REQUIRE(evc_backend_answer(one.played, first.asked, str(completion), nullptr) == EVC_OK);
  held.reached.wait(0);
  heard = 0;  // The last ASKED may have been polled before its call, which then came to the new hook.
  end();
  // One is withdrawn right after the second END, when the backend is gone and its thread does not know yet.
  CHECK(evc_pool_cancel(one.pool, withdrawn.in_pool) == EVC_OK);
  REQUIRE(evc_backend_answer(one.played, second.asked, str(completion), nullptr) == EVC_OK);
  held.open();
  held.reached.wait(1);
  evc_backend_free(one.played);
  one.played = nullptr;
  CHECK(heard == 0);
  held.opened = 10;
  held.opened.notify_all();
  end();
  end();
  CHECK(heard == 0);
}
