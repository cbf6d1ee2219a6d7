#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <evalcore/pool/pool.hpp>

namespace evalcore::pool {

/// From the loop to the host. push() and publish() on the loop, the others on any thread.
///
/// The loop never waits for a host that takes events: one that is interrupted meanwhile would hold up all
/// sockets. It takes the lock only to wake a host that sleeps.
class event_queue {
 public:
  event_queue() = default;
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;
  ~event_queue() {
    taken_ = events_.size();  // Else what came after those is not fetched, and not freed.
    fetch();
  }

  /// True when this is the first since publish(), which is to be called when no more come at once: to wake
  /// the host costs more than a request does.
  [[nodiscard]] bool push(event&& one) {
    if (!unpublished_) {
      unpublished_ = std::make_unique<batch>();
      unpublished_->events.reserve(usual_);
    }
    unpublished_->events.push_back(std::move(one));
    return unpublished_->events.size() == 1;
  }

  void publish() {
    usual_ = unpublished_->events.size();
    const bool last = unpublished_->events.back().what == event::kind::drained;
    unpublished_->before = latest_.load(std::memory_order_relaxed);
    while (!latest_.compare_exchange_weak(unpublished_->before, unpublished_.get())) {
    }
    static_cast<void>(unpublished_.release());
    if (last) drained_ = true;
    if (sleepers_ > 0) notify();
  }

  std::optional<event> poll(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!fetch() && timeout > std::chrono::milliseconds::zero()) {
      sleep(lock, timeout, [this] { return fetch() || woken_; });
    }
    if (taken_ == events_.size()) {
      woken_ = false;
      return std::nullopt;
    }
    return std::move(events_[taken_++]);
  }

  void wake() {
    woken_ = true;
    notify();
  }

  /// In the place of a drained event that goes elsewhere.
  void end() {
    drained_ = true;
    notify();
  }

  void wait_drained() {
    std::unique_lock lock(mutex_);
    sleep(lock, longest, [this] { return drained_.load(); });
  }

 private:
  struct batch {
    std::vector<event> events;
    batch* before = nullptr;
  };

  /// A longer time would overflow the clock.
  static constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 365);

  /// Under the lock. Whether there is an event to take.
  bool fetch() {
    if (taken_ < events_.size()) return true;
    taken_ = 0;
    events_.clear();
    std::vector<std::unique_ptr<batch>> found;
    for (batch* one = latest_.exchange(nullptr); one != nullptr; one = found.back()->before) {
      found.emplace_back(one);
    }
    for (auto one = found.rbegin(); one != found.rend(); ++one) {
      if (events_.empty()) {
        events_.swap((*one)->events);
      } else {
        std::ranges::move((*one)->events, std::back_inserter(events_));
      }
    }
    return !events_.empty();
  }

  /// Whoever publishes after `ready` was looked at sees the sleeper, as both are in one order of all threads.
  template <class Ready>
  void sleep(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds most, Ready ready) {
    ++sleepers_;
    changed_.wait_for(lock, std::min(most, longest), ready);
    --sleepers_;
  }

  void notify() {
    {
      const std::lock_guard lock(mutex_);
    }  // Past a sleeper's look, into its wait.
    changed_.notify_all();
  }

  std::unique_ptr<batch> unpublished_;
  std::size_t usual_ = 1;                 ///< Size of the last batch.
  std::atomic<batch*> latest_ = nullptr;  ///< Those before it hang on it.
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> woken_ = false;
  std::atomic<bool> drained_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<event> events_;
  std::size_t taken_ = 0;  ///< Of events_, from the front.
};

}  // namespace evalcore::pool
