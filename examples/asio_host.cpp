// evalcore in a program that has a loop of its own, here Boost.Asio's.
//
//   asio_host SCRIPT.jsonl QUESTION...
//
// The pool's queue of events has a descriptor, which is readable as long as there are events. The program's
// loop waits for it beside its own sockets and timers; no thread waits for evalcore.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <evalcore/evalcore.h>

namespace asio = boost::asio;

namespace {

evc_str str(std::string_view text) { return {text.data(), text.size()}; }

std::string string(evc_str text) { return {text.data, text.size}; }

/// Prints the answers of a pool as they come, on the loop of the program.
class answers {
 public:
  answers(asio::io_context& loop, evc_pool* pool, char** questions)
      : pool_(pool), questions_(questions), ready_(loop, evc_pool_event_fd(pool)) {
    wait();
  }
  /// The descriptor is the pool's: Asio must not close it.
  ~answers() {
    if (ready_.is_open()) ready_.release();
  }
  answers(const answers&) = delete;
  answers& operator=(const answers&) = delete;

 private:
  void wait() {
    ready_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const auto& failure) {
      if (!failure && take_all()) wait();
    });
  }

  /// Takes what is there without waiting; false: nothing more will come.
  bool take_all() {
    evc_event* event = nullptr;
    evc_status status = EVC_OK;
    while ((status = evc_pool_poll(pool_, 0, &event)) == EVC_OK) {
      if (evc_event_kind(event) == EVC_EVENT_END) print(event);
      evc_event_free(event);
    }
    return status == EVC_E_TIMEOUT;
  }

  void print(const evc_event* event) {
    const auto* reply = evc_event_reply(event);
    const auto* question = questions_[evc_event_tag(event)];
    const auto text = reply != nullptr ? evc_reply_text(reply) : evc_error_message(evc_event_error(event));
    std::printf("%s %s %s\n", question, reply != nullptr ? "->" : "failed:", string(text).c_str());
  }

  evc_pool* pool_;
  char** questions_;
  asio::posix::stream_descriptor ready_;
};

evc_pool* pool_on(evc_runtime* runtime, const char* script, evc_backend** backend) {
  evc_pool* pool = nullptr;
  auto* options = evc_backend_options_new();
  evc_backend_options_set_script(options, str(script));
  evc_error* error = nullptr;
  if (evc_backend_open(runtime, str("scripted"), options, backend, &error) == EVC_OK) {
    evc_pool_new(runtime, backend, 1, nullptr, &pool, &error);
  }
  if (error != nullptr) std::fprintf(stderr, "%s\n", string(evc_error_message(error)).c_str());
  evc_error_free(error);
  evc_backend_options_free(options);
  return pool;
}

/// False: the pool did not take it, and there will be no event of it.
bool submit(evc_pool* pool, const char* question, std::uint64_t tag) {
  auto* request = evc_request_new();
  evc_request_add_message(request, EVC_ROLE_USER, str(question));
  evc_error* error = nullptr;
  const auto status = evc_pool_submit(pool, request, tag, nullptr, &error);
  evc_request_free(request);
  if (status == EVC_OK) return true;
  std::fprintf(stderr, "%s was not asked: %s\n", question, string(evc_error_message(error)).c_str());
  evc_error_free(error);
  return false;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  evc_runtime* runtime = nullptr;
  evc_backend* backend = nullptr;
  if (evc_runtime_new(&runtime, nullptr) != EVC_OK) return 1;
  auto* pool = pool_on(runtime, words[1], &backend);
  if (pool == nullptr) return 1;
  bool all_asked = true;
  for (int i = 2; i < count; ++i) {
    if (!submit(pool, words[i], static_cast<std::uint64_t>(i))) all_asked = false;
  }
  evc_pool_shutdown(pool, 0);  // Nothing more is asked; what was asked goes on.
  {
    asio::io_context loop;
    int ticks = 0;
    asio::steady_timer own_work(loop, std::chrono::milliseconds(1));
    own_work.async_wait([&ticks](const auto&) { ++ticks; });
    const answers shown(loop, pool, words);
    loop.run();  // Until the timer is over and the pool has told its last.
    std::printf("beside that the program's own timer went off %d time\n", ticks);
  }
  evc_pool_free(pool);
  evc_backend_free(backend);
  evc_runtime_free(runtime);
  return all_asked ? 0 : 1;
}
