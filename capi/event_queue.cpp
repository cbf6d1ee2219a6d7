#include "event_queue.hpp"

#include <chrono>
#include <utility>

namespace evalcore::capi {

bool event_queue::add(pool_event event, bool last) {
  const bool first = events_.empty();
  open_texts_.erase(event->ticket);
  events_.push_back(std::move(event));
  last_came_ = last_came_ || last;
  pipe_.show(true);
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
  if (first) hook_.call();
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
  if (first) hook_.call();
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
  if (first) hook_.call();
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
  pipe_.show(!events_.empty());
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
  return pipe_.descriptor();
}

}  // namespace evalcore::capi
