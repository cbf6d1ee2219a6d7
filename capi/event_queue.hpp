#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "event.hpp"
#include "readable_pipe.hpp"
#include "wakeup_hook.hpp"

namespace evalcore::capi {

/// Events on their way to the host, with all the ways in which a host waits for them. Any thread.
class event_queue {
 public:
  event_queue() = default;
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  /// `last`: after it was taken, nothing more comes.
  void push(pool_event event, bool last = false);
  /// More of a request's text: joined with what was not taken yet, so that a host that reads slowly loses
  /// nothing and holds no more than the answer.
  void push_text(std::uint64_t ticket, std::uint64_t tag, std::string_view more);
  /// How a run stands, in the place of what was not taken yet.
  void push_progress(std::string json);

  /// After what was pushed, nothing more comes.
  void close();

  enum class outcome : std::uint8_t { given, none, over };
  /// timeout_ms: below 0 without end.
  outcome take(std::int32_t timeout_ms, pool_event& into);
  void wake();
  /// Readable as long as there are events; -1 where none can be had.
  [[nodiscard]] std::int32_t descriptor();
  void set_hook(void (*hook)(void*), void* context) { hook_.set(hook, context); }

 private:
  [[nodiscard]] bool add(pool_event event, bool last);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<pool_event> events_;
  std::unordered_map<std::uint64_t, evc_event*>
      open_texts_;                      ///< The last event of a ticket, if that is text.
  evc_event* open_progress_ = nullptr;  ///< Not taken yet.
  readable_pipe pipe_;
  bool woken_ = false;
  bool last_came_ = false;

  wakeup_hook hook_;  ///< Called without the lock.
};

/// EVC_OK, or why there is no event.
[[nodiscard]] constexpr evc_status status_of(event_queue::outcome of) noexcept {
  switch (of) {
    case event_queue::outcome::given:
      return EVC_OK;
    case event_queue::outcome::none:
      return EVC_E_TIMEOUT;
    case event_queue::outcome::over:
      break;
  }
  return EVC_E_CLOSED;
}

}  // namespace evalcore::capi
