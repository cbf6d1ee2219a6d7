// What a host waits for when it opens a backend, and how it ends that.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include <evalcore/evalcore.h>

namespace {

using namespace std::chrono_literals;

evc_str str(std::string_view text) { return {text.data(), text.size()}; }

/// A server that takes connections and never answers.
class silent_server {
 public:
  silent_server() {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&here), size) == 0);
    REQUIRE(::listen(socket_, 16) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&here), &size) == 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(here.sin_port));
  }
  ~silent_server() { ::close(socket_); }
  silent_server(const silent_server&) = delete;
  silent_server& operator=(const silent_server&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  std::string url_;
};

struct host {
  host() { REQUIRE(evc_runtime_new(&runtime, nullptr) == EVC_OK); }
  ~host() { evc_runtime_free(runtime); }
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  [[nodiscard]] std::future<evc_status> open(const evc_backend_options* options) const {
    return std::async(std::launch::async, [this, options] {
      evc_backend* backend = nullptr;
      const auto status = evc_backend_open(runtime, str("openai-url"), options, &backend, nullptr);
      evc_backend_free(backend);
      return status;
    });
  }

  evc_runtime* runtime = nullptr;
};

evc_backend_options* options_for(const silent_server& at) {
  evc_backend_options* options = evc_backend_options_new();
  REQUIRE(evc_backend_options_set_base_url(options, str(at.url())) == EVC_OK);
  return options;
}

}  // namespace

TEST_CASE("an opening is cancelled by its options, while another goes on until the runtime is interrupted") {
  const silent_server at;
  const host one;
  evc_backend_options* own = options_for(at);
  evc_backend_options* others = options_for(at);
  auto cancelled = one.open(own);
  auto interrupted = one.open(others);
  std::this_thread::sleep_for(100ms);
  CHECK(cancelled.wait_for(0ms) == std::future_status::timeout);
  CHECK(evc_backend_options_cancel_open(own) == EVC_OK);
  REQUIRE(cancelled.wait_for(10s) == std::future_status::ready);
  CHECK(cancelled.get() == EVC_E_CANCELLED);
  CHECK(interrupted.wait_for(200ms) == std::future_status::timeout);
  CHECK(evc_runtime_interrupt(one.runtime) == EVC_OK);
  REQUIRE(interrupted.wait_for(10s) == std::future_status::ready);
  CHECK(interrupted.get() == EVC_E_CANCELLED);
  evc_backend_options_free(own);
  evc_backend_options_free(others);
}

TEST_CASE("an opening that was cancelled before it began does not begin") {
  const host one;
  evc_backend_options* options = evc_backend_options_new();
  REQUIRE(evc_backend_options_set_script(options, str(EVALCORE_TEST_DATA "/capi/script.jsonl")) == EVC_OK);
  CHECK(evc_backend_options_cancel_open(options) == EVC_OK);
  evc_backend* backend = nullptr;
  evc_error* error = nullptr;
  CHECK(evc_backend_open(one.runtime, str("scripted"), options, &backend, &error) == EVC_E_CANCELLED);
  CHECK(backend == nullptr);
  CHECK(evc_error_message(error).size > 0);
  evc_error_free(error);
  evc_backend_options_free(options);
  CHECK(evc_backend_options_cancel_open(nullptr) == EVC_E_INVALID_ARGUMENT);
}

TEST_CASE("a plan is cancelled by its options, and the same with others is not") {
  const host one;
  evc_backend_options* how = evc_backend_options_new();
  REQUIRE(evc_backend_options_set_model(how, str(EVALCORE_TEST_DATA "/models/canned/canned-q8_0.gguf")) ==
          EVC_OK);
  REQUIRE(evc_backend_options_set_context_per_slot(how, 1024) == EVC_OK);
  evc_backend* model = nullptr;
  const auto opened = evc_backend_open(one.runtime, str("embedded"), how, &model, nullptr);
  evc_backend_options_free(how);
  if (opened == EVC_E_UNSUPPORTED) return;  // Built without llama.cpp.
  REQUIRE(opened == EVC_OK);
  evc_suite* suite = nullptr;
  REQUIRE(evc_suite_open(str(EVALCORE_TEST_DATA "/capi/suite.jsonl"), str(""), &suite, nullptr) == EVC_OK);
  evc_run_options* options = evc_run_options_new();
  evc_text* plan = nullptr;
  CHECK(evc_suite_plan(suite, model, options, &plan, nullptr) == EVC_OK);
  evc_text_free(plan);
  CHECK(evc_run_options_cancel_plan(options) == EVC_OK);
  CHECK(evc_suite_plan(suite, model, options, &plan, nullptr) == EVC_E_CANCELLED);
  CHECK(plan == nullptr);
  evc_run_options* others = evc_run_options_new();
  CHECK(evc_suite_plan(suite, model, others, &plan, nullptr) == EVC_OK);
  evc_text_free(plan);
  evc_run_options_free(others);
  evc_run_options_free(options);
  evc_suite_free(suite);
  evc_backend_free(model);
}
