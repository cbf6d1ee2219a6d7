#include "event_queue.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace evalcore::capi {

event_queue::~event_queue() {
  for (const int end : pipe_) {
    if (end >= 0) ::close(end);
  }
}

bool event_queue::add(pool_event event, bool last) {
  const bool first = events_.empty();
  open_texts_.erase(event->ticket);
  events_.push_back(std::move(event));
  last_came_ = last_came_ || last;
  if (first) show_readable();
  changed_.notify_one();
  return first;
}

void event_queue::push(pool_event event, bool last) {
  bool first = false;
  {
    const std::lock_guard held(mutex_);
    first = add(std::move(event), last);
  }
  if (last) changed_.notify_all();
  if (first) call_hook();
}

void event_queue::push_text(std::uint64_t ticket, std::uint64_t tag, std::string_view more) {
  bool first = false;
  {
    const std::lock_guard held(mutex_);
    if (const auto open = open_texts_.find(ticket); open != open_texts_.end()) {
      open->second->text += more;
      return;
    }
    auto made = std::make_unique<evc_event>(EVC_EVENT_TEXT);
    made->ticket = ticket;
    made->tag = tag;
    made->text = more;
    auto* const text = made.get();
    first = add(std::move(made), false);
    open_texts_.emplace(ticket, text);
  }
  if (first) call_hook();
}

void event_queue::push_progress(std::string json) {
  bool first = false;
  {
    const std::lock_guard held(mutex_);
    if (open_progress_ != nullptr) {
      open_progress_->json = std::move(json);
      return;
    }
    auto made = std::make_unique<evc_event>(EVC_EVENT_PROGRESS);
    made->json = std::move(json);
    auto* const progress = made.get();
    first = add(std::move(made), false);
    open_progress_ = progress;
  }
  if (first) call_hook();
}

void event_queue::close() {
  {
    const std::lock_guard held(mutex_);
    last_came_ = true;
  }
  changed_.notify_all();
}

event_queue::outcome event_queue::take(std::int32_t timeout_ms, pool_event& into) {
  std::unique_lock held(mutex_);
  const auto ready = [this] { return !events_.empty() || woken_ || last_came_; };
  if (timeout_ms < 0) {
    changed_.wait(held, ready);
  } else if (timeout_ms > 0) {
    changed_.wait_until(held, std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms),
                        ready);
  }
  if (events_.empty()) {
    if (last_came_) return outcome::over;
    if (timeout_ms != 0) woken_ = false;  // Who does not wait needs no waking.
    return outcome::none;
  }
  into = std::move(events_.front());
  events_.pop_front();
  if (const auto open = open_texts_.find(into->ticket);
      open != open_texts_.end() && open->second == into.get()) {
    open_texts_.erase(open);
  }
  if (into.get() == open_progress_) open_progress_ = nullptr;
  if (events_.empty()) show_empty();
  return outcome::given;
}

void event_queue::wake() {
  {
    const std::lock_guard held(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

std::int32_t event_queue::descriptor() {
  const std::lock_guard held(mutex_);
  if (pipe_[0] >= 0) return pipe_[0];
  if (::pipe(pipe_.data()) != 0) return -1;
  for (const int end : pipe_) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  if (!events_.empty()) show_readable();
  return pipe_[0];
}

void event_queue::set_hook(void (*hook)(void*), void* context) {
  const std::lock_guard held(hook_mutex_);
  hook_ = hook;
  hook_context_ = context;
}

void event_queue::call_hook() {
  const std::lock_guard held(hook_mutex_);
  if (hook_ != nullptr) hook_(hook_context_);
}

// The pipe holds one byte while there are events, and nothing else.

void event_queue::show_readable() noexcept {
  constexpr char byte = 1;
  if (pipe_[1] >= 0) static_cast<void>(!::write(pipe_[1], &byte, 1));
}

void event_queue::show_empty() noexcept {
  char byte = 0;
  if (pipe_[0] >= 0) static_cast<void>(!::read(pipe_[0], &byte, 1));
}

}  // namespace evalcore::capi
