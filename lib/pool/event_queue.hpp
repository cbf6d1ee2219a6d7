#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <evalcore/pool/pool.hpp>

namespace evalcore::pool {

/// From the loop to the host. Any thread.
class event_queue {
 public:
  void push(event one) {
    {
      const std::lock_guard lock(mutex_);
      drained_ = drained_ || one.what == event::kind::drained;
      events_.push_back(std::move(one));
    }
    changed_.notify_all();
  }

  std::optional<event> poll(std::chrono::milliseconds timeout) {
    // A longer one would overflow the clock.
    constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 365);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::min(timeout, longest), [&] { return !events_.empty() || woken_; });
    if (events_.empty()) {
      woken_ = false;
      return std::nullopt;
    }
    event first = std::move(events_.front());
    events_.pop_front();
    return first;
  }

  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    changed_.notify_all();
  }

  void wait_drained() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return drained_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<event> events_;
  bool woken_ = false;
  bool drained_ = false;
};

}  // namespace evalcore::pool
