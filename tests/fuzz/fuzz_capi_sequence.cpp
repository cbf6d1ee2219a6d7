#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <evalcore/evalcore.h>

#include "fuzz/require.hpp"

// Any calls of the C ABI in any order, with any bytes as texts, on a pool whose backend the input plays:
// nothing crashes, each request that was accepted ends exactly once, and all before the pool is drained.

namespace {

/// Bytes that say what is called, and with what.
class script {
 public:
  script(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool over() const { return at_ >= size_; }
  std::uint8_t byte() { return over() ? 0 : data_[at_++]; }
  /// Up to 15 bytes of the input, or one of the texts that functions wait for.
  evc_str text() {
    static constexpr std::array<std::string_view, 7> known{
        "",
        "hi",
        R"([{"role":"user","content":"hi"}])",
        R"({"temperature":0,"top_k":3,"stop":["x"]})",
        R"([{"name":"f","parameters":{}}])",
        R"({"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]})",
        R"({"choices":[{"message":{"content":null,"tool_calls":[]}}],"usage":{"prompt_tokens":1}})"};
    const auto how = byte();
    if (how < known.size()) return {known[how].data(), known[how].size()};
    const auto wanted = how % 16U;
    const auto size = wanted < size_ - at_ ? wanted : size_ - at_;
    const evc_str given{reinterpret_cast<const char*>(data_ + at_), size};
    at_ += size;
    return given;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

class sequence {
 public:
  explicit sequence(script& from) : from_(from) {
    require(evc_runtime_new(&runtime_, nullptr) == EVC_OK);
    require(evc_backend_new_host(runtime_, {"m", 1}, {"{}", 2}, &backend_, nullptr) == EVC_OK);
    auto* options = evc_pool_options_new();
    require(evc_pool_options_set_retries(options, 0) == EVC_OK);
    require(evc_pool_new(runtime_, &backend_, 1, options, &pool_, nullptr) == EVC_OK);
    evc_pool_options_free(options);
    request_ = evc_request_new();
  }
  sequence(const sequence&) = delete;
  sequence& operator=(const sequence&) = delete;

  ~sequence() {
    evc_request_free(request_);
    evc_pool_shutdown(pool_, 1);
    while (!drained_) require(poll(20000));
    evc_event* more = nullptr;
    require(evc_pool_poll(pool_, 0, &more) == EVC_E_CLOSED && more == nullptr);
    for (const auto& [ticket, ends] : accepted_) require(ends == 1);
    // Each keeps what it needs.
    evc_runtime_free(runtime_);
    evc_backend_free(backend_);
    evc_pool_free(pool_);
  }

  void step() {
    evc_error* error = nullptr;
    switch (from_.byte() % 20) {
      case 0:
        evc_request_free(request_);
        request_ = evc_request_new();
        break;
      case 1:
        evc_request_add_message(request_, from_.byte() % 6, from_.text());
        break;
      case 2:
        evc_request_add_messages(request_, from_.text(), &error);
        break;
      case 3:
        evc_request_set_params(request_, from_.text(), &error);
        break;
      case 4:
        evc_request_set_tools(request_, from_.text(), &error);
        break;
      case 5:
        evc_request_set_context(request_, from_.text());
        evc_request_add_continuation(request_, from_.text());
        break;
      case 6:
        evc_request_set_stream(request_, from_.byte() % 2);
        evc_request_set_cache_key(request_, from_.text());
        break;
      case 7:
      case 8:
        submit(&error);
        break;
      case 9:
        while (poll(0)) {
        }
        break;
      case 10:
      case 11:
        play();
        break;
      case 12:
        evc_backend_answer(backend_, asked(), from_.text(), &error);
        break;
      case 13:
        evc_backend_tell_text(backend_, asked(), from_.text());
        break;
      case 14:
        evc_backend_fail(backend_, asked(), -static_cast<std::int32_t>(from_.byte() % 40), from_.text());
        break;
      case 15:
        evc_pool_cancel(pool_, from_.byte());
        break;
      case 16:
        evc_pool_set_concurrency(pool_, from_.byte());
        break;
      case 17:
        evc_pool_shutdown(pool_, from_.byte() % 2);
        break;
      case 18:
        misuse(&error);
        break;
      case 19:
        suite(&error);
        break;
    }
    if (error != nullptr) require(evc_error_message(error).size > 0 && evc_error_status(error) != EVC_OK);
    evc_error_free(error);
  }

 private:
  void submit(evc_error** error) {
    std::uint64_t ticket = 0;
    if (evc_pool_submit(pool_, request_, 1, &ticket, error) != EVC_OK) return;
    require(ticket != 0 && accepted_.emplace(ticket, 0).second);
  }

  /// Whether something came.
  bool poll(std::int32_t timeout_ms) {
    evc_event* event = nullptr;
    const auto status = evc_pool_poll(pool_, timeout_ms, &event);
    require((status == EVC_OK) == (event != nullptr));
    if (event == nullptr) return false;
    require(!drained_);
    const auto kind = evc_event_kind(event);
    if (kind == EVC_EVENT_DRAINED) drained_ = true;
    if (kind == EVC_EVENT_END) {
      const auto found = accepted_.find(evc_event_ticket(event));
      require(found != accepted_.end() && ++found->second == 1);
      const auto* reply = evc_event_reply(event);
      require((reply == nullptr) != (evc_event_error(event) == nullptr));
      evc_reply_json(reply);
      if (reply != nullptr) evc_request_add_reply(request_, reply);
    }
    evc_event_free(event);
    return true;
  }

  /// Takes what the pool asks.
  void play() {
    evc_event* event = nullptr;
    while (evc_backend_poll(backend_, from_.byte() % 2, &event) == EVC_OK) {
      if (evc_event_kind(event) == EVC_EVENT_ASKED) asked_.push_back(evc_event_ticket(event));
      require(evc_event_ticket(event) != 0);
      evc_event_free(event);
    }
  }
  /// A ticket that was asked, or one that never was.
  std::uint64_t asked() {
    const auto which = from_.byte();
    return which < asked_.size() ? asked_[which] : which;
  }

  /// What no handle is.
  void misuse(evc_error** error) {
    require(evc_pool_submit(nullptr, request_, 0, nullptr, error) == EVC_E_INVALID_ARGUMENT);
    require(evc_pool_submit(pool_, nullptr, 0, nullptr, nullptr) == EVC_E_INVALID_ARGUMENT);
    require(evc_request_set_model(request_, {nullptr, 3}) == EVC_E_INVALID_ARGUMENT);
    require(evc_run_poll(nullptr, 0, nullptr) == EVC_E_INVALID_ARGUMENT);
#ifdef EVALCORE_LIVE_HANDLES
    auto* freed = evc_request_new();
    evc_request_free(freed);
    evc_request_free(freed);
    require(evc_request_set_stream(freed, 1) == EVC_E_INVALID_ARGUMENT);
#endif
  }

  void suite(evc_error** error) {
    evc_suite* opened = nullptr;
    const auto status = evc_suite_open_text({"s", 1}, from_.text(), &opened, error);
    require((status == EVC_OK) == (opened != nullptr));
    evc_suite_free(opened);
  }

  script& from_;
  evc_runtime* runtime_ = nullptr;
  evc_backend* backend_ = nullptr;
  evc_pool* pool_ = nullptr;
  evc_request* request_ = nullptr;
  std::map<std::uint64_t, int> accepted_;  ///< With the number of ENDs.
  std::vector<std::uint64_t> asked_;
  bool drained_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 512) return 0;
  script from(data, size);
  sequence calls(from);
  while (!from.over()) calls.step();
  return 0;
}
