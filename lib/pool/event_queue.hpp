#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include <evalcore/pool/pool.hpp>

namespace evalcore::pool {

/// From the loop to the host. push() and publish() on the loop, the others on any thread.
class event_queue {
 public:
  /// True when this is the first since publish(), which is to be called when no more come at once: to wake
  /// the host costs more than a request does.
  [[nodiscard]] bool push(event&& one) {
    unpublished_.push_back(std::move(one));
    return unpublished_.size() == 1;
  }

  void publish() {
    {
      const std::lock_guard lock(mutex_);
      drained_ = unpublished_.back().what == event::kind::drained;
      if (events_.empty()) {
        events_.swap(unpublished_);
      } else {
        std::ranges::move(unpublished_, std::back_inserter(events_));
      }
    }
    unpublished_.clear();
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
    std::optional<event> first = std::move(events_.front());
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
  std::deque<event> unpublished_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<event> events_;
  bool woken_ = false;
  bool drained_ = false;
};

}  // namespace evalcore::pool
