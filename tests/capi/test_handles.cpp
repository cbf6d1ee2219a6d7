// Handles that are no longer what a host takes them for. Builds that keep book of live handles refuse them;
// under the address sanitizer this shows that nothing freed is touched.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include <evalcore/evalcore.h>

#ifdef EVALCORE_LIVE_HANDLES

namespace {

evc_str str(std::string_view text) { return {text.data(), text.size()}; }

std::string detail_of(evc_error* error) {
  const evc_str word = evc_error_detail(error);
  std::string copied(word.data, word.size);
  evc_error_free(error);
  return copied;
}

struct host {
  host() {
    REQUIRE(evc_runtime_new(&runtime, nullptr) == EVC_OK);
    evc_backend_options* options = evc_backend_options_new();
    REQUIRE(evc_backend_options_set_script(options, str(EVALCORE_TEST_DATA "/capi/script.jsonl")) == EVC_OK);
    REQUIRE(evc_backend_open(runtime, str("scripted"), options, &backend, nullptr) == EVC_OK);
    evc_backend_options_free(options);
    REQUIRE(evc_pool_new(runtime, &backend, 1, nullptr, &pool, nullptr) == EVC_OK);
  }
  ~host() {
    evc_pool_free(pool);
    evc_backend_free(backend);
    evc_runtime_free(runtime);
  }
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  evc_event* ask() const {
    evc_request* request = evc_request_new();
    REQUIRE(evc_request_add_message(request, EVC_ROLE_USER, str("hi")) == EVC_OK);
    REQUIRE(evc_pool_submit(pool, request, 7, nullptr, nullptr) == EVC_OK);
    evc_request_free(request);
    evc_event* event = nullptr;
    REQUIRE(evc_pool_poll(pool, 20'000, &event) == EVC_OK);
    return event;
  }

  evc_runtime* runtime = nullptr;
  evc_backend* backend = nullptr;
  evc_pool* pool = nullptr;
};

}  // namespace

TEST_CASE("a request that was freed is refused") {
  const host one;
  evc_request* request = evc_request_new();
  evc_request_free(request);
  evc_error* error = nullptr;
  CHECK(evc_pool_submit(one.pool, request, 0, nullptr, &error) == EVC_E_INVALID_ARGUMENT);
  CHECK(detail_of(error) == "freed_handle");
  CHECK(evc_request_add_message(request, EVC_ROLE_USER, str("hi")) == EVC_E_INVALID_ARGUMENT);
  CHECK(evc_request_set_tools(request, str("[]"), nullptr) == EVC_E_INVALID_ARGUMENT);
  evc_request_free(request);
}

TEST_CASE("options of scoring and gates that were freed are refused") {
  evc_score_options* score = evc_score_options_new();
  evc_gate_options* gate = evc_gate_options_new();
  evc_gate_rows_options* rows = evc_gate_rows_options_new();
  evc_power_options* power = evc_power_options_new();
  evc_score_options_free(score);
  evc_gate_options_free(gate);
  evc_gate_rows_options_free(rows);
  evc_power_options_free(power);
  CHECK(evc_score_options_set_limit(score, 1) == EVC_E_INVALID_ARGUMENT);
  CHECK(evc_gate_options_refusal(gate).size == 0);
  evc_text* told = nullptr;
  evc_error* error = nullptr;
  CHECK(evc_gate_runs(nullptr, 0, gate, nullptr, &told, &error) == EVC_E_INVALID_ARGUMENT);
  CHECK(detail_of(error) == "freed_handle");
  CHECK(evc_gate_rows({}, {}, rows, nullptr, &told, &error) == EVC_E_INVALID_ARGUMENT);
  CHECK(detail_of(error) == "freed_handle");
  CHECK(evc_power_plan(power, &told, &error) == EVC_E_INVALID_ARGUMENT);
  CHECK(detail_of(error) == "freed_handle");
  evc_power_options_free(power);
}

TEST_CASE("a pool that was freed is refused") {
  host one;
  evc_pool* pool = one.pool;
  evc_pool_free(pool);
  evc_event* event = nullptr;
  CHECK(evc_pool_poll(pool, -1, &event) == EVC_E_INVALID_ARGUMENT);
  CHECK(event == nullptr);
  CHECK(evc_pool_cancel(pool, 1) == EVC_E_INVALID_ARGUMENT);
  CHECK(evc_pool_shutdown(pool, 1) == EVC_E_INVALID_ARGUMENT);
  CHECK(evc_pool_event_fd(pool) == -1);
}

TEST_CASE("backends and runtimes that were freed are refused") {
  host one;
  evc_backend_free(one.backend);
  evc_pool* pool = nullptr;
  CHECK(evc_pool_new(one.runtime, &one.backend, 1, nullptr, &pool, nullptr) == EVC_E_INVALID_ARGUMENT);
  evc_text* info = nullptr;
  CHECK(evc_backend_info(one.backend, &info, nullptr) == EVC_E_INVALID_ARGUMENT);
  evc_runtime_free(one.runtime);
  CHECK(evc_runtime_interrupt(one.runtime) == EVC_E_INVALID_ARGUMENT);
  evc_event_free(one.ask());  // The pool has what it needs.
}

TEST_CASE("of an event that was freed nothing is read") {
  const host one;
  evc_event* event = one.ask();
  const evc_reply* reply = evc_event_reply(event);
  CHECK(evc_event_tag(event) == 7);
  evc_event_free(event);
  CHECK(evc_event_kind(event) == 0);
  CHECK(evc_event_tag(event) == 0);
  CHECK(evc_event_reply(event) == nullptr);
  CHECK(evc_reply_text(reply).size == 0);
  CHECK(evc_reply_json(reply).size == 0);
  evc_event_free(event);
}

TEST_CASE("options, texts and errors that were freed are left alone") {
  evc_pool_options* pools = evc_pool_options_new();
  evc_pool_options_free(pools);
  CHECK(evc_pool_options_set_retries(pools, 1) == EVC_E_INVALID_ARGUMENT);
  evc_pool_options_free(pools);
  evc_backend_options* backends = evc_backend_options_new();
  evc_backend_options_free(backends);
  CHECK(evc_backend_options_set_slots(backends, 1) == EVC_E_INVALID_ARGUMENT);
  evc_engine_options* engines = evc_engine_options_new();
  evc_engine_options_free(engines);
  CHECK(evc_engine_options_set_batch_wait_ms(engines, 1) == EVC_E_INVALID_ARGUMENT);
  evc_engine_request* asked = evc_engine_request_new();
  evc_engine_request_free(asked);
  CHECK(evc_engine_request_set_max_tokens(asked, 1) == EVC_E_INVALID_ARGUMENT);
  CHECK(evc_engine_request_set_progress(asked, 1) == EVC_E_INVALID_ARGUMENT);

  const host one;
  evc_text* text = nullptr;
  REQUIRE(evc_backend_info(one.backend, &text, nullptr) == EVC_OK);
  evc_text_free(text);
  CHECK(evc_text_view(text).size == 0);
  evc_error* error = nullptr;
  REQUIRE(evc_pool_submit(nullptr, nullptr, 0, nullptr, &error) == EVC_E_INVALID_ARGUMENT);
  evc_error_free(error);
  CHECK(evc_error_status(error) == EVC_OK);
  evc_error_free(error);
}

TEST_CASE("a child that was forked while another thread made handles makes its own") {
  std::atomic<bool> over = false;
  std::thread busy([&over] {
    while (!over) evc_request_free(evc_request_new());
  });
  int stuck = 0;
  for (int i = 0; i < 200 && stuck == 0; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);  // Ends a child that waits for a thread that it has not.
      evc_request_free(evc_request_new());
      ::_exit(0);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) ++stuck;
  }
  over = true;
  busy.join();
  CHECK(stuck == 0);
}

TEST_CASE("a handle of another type is refused") {
  const host one;
  void* const pool = one.pool;
  CHECK(evc_request_set_stream(static_cast<evc_request*>(pool), 1) == EVC_E_INVALID_ARGUMENT);
  CHECK(evc_event_kind(static_cast<const evc_event*>(pool)) == 0);
  evc_text_free(static_cast<evc_text*>(pool));
  evc_event_free(one.ask());
}

#endif
