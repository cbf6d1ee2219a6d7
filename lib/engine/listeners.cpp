#include "engine/listeners.hpp"

#include <algorithm>
#include <utility>

namespace evalcore::engine {

void listeners::make_room() { to_wake_.reserve(all_.size() + to_wake_.size() + waking_ + 1); }

void listeners::leave(job_id which, const std::shared_ptr<listener>& one) noexcept {
  all_.erase(which);
  std::erase(to_wake_, one);
}

void listeners::hear(const std::shared_ptr<listener>& one) noexcept {
  one->ready.notify_all();
  if (!one->wake || std::exchange(one->to_wake, true)) return;
  to_wake_.push_back(one);
}

void listeners::tell(scheduler& decisions, lock& held) noexcept {
  if (decisions.take_news(news_)) {
    for (const auto id : news_) {
      const auto found = all_.find(id);
      if (found == all_.end()) continue;
      hear(found->second);
      if (found->second->out->ended()) all_.erase(found);
    }
  } else {
    for (const auto& [id, one] : all_) {
      if (one->out->ready()) hear(one);
    }
    std::erase_if(all_, [](const auto& entry) { return entry.second->out->ended(); });
  }
  for (auto left = to_wake_.size(); left > 0 && !to_wake_.empty(); --left) {
    auto one = std::move(to_wake_.back());
    to_wake_.pop_back();
    one->to_wake = false;
    ++waking_;
    held.unlock();
    bool woken = true;
    try {
      one->wake();
    } catch (...) {
      woken = false;
    }
    if (woken) one.reset();  // Without the lock: it may be the last owner, and what wakes may own a stream.
    held.lock();
    --waking_;
    if (!woken && !std::exchange(one->to_wake, true)) to_wake_.insert(to_wake_.begin(), one);
  }
}

}  // namespace evalcore::engine
