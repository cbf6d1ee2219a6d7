#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

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
      if (taken_ == events_.size()) {
        taken_ = 0;
        events_.clear();
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
    changed_.wait_for(lock, std::min(timeout, longest), [&] { return taken_ < events_.size() || woken_; });
    if (taken_ == events_.size()) {
      woken_ = false;
      return std::nullopt;
    }
    return std::move(events_[taken_++]);
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
  std::vector<event> unpublished_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<event> events_;
  std::size_t taken_ = 0;  ///< Of events_, from the front.
  bool woken_ = false;
  bool drained_ = false;
};

}  // namespace evalcore::pool
