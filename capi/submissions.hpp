#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/pool/source.hpp>

namespace evalcore::capi {

/// What the host has submitted: what the pool has not pulled yet, and the tags of all that has not ended. The
/// pool's calls come on its loop, the others from any thread.
class submissions final : public pool::source {
 public:
  struct accepted {
    pool::item_id ticket = 0;
    bool pool_waits = false;  ///< It has said `later`, and must be told to look again.
  };

  /// Nothing when it is closed.
  [[nodiscard]] std::optional<accepted> add(pool::work work, std::uint64_t tag) {
    const std::lock_guard held(mutex_);
    if (closed_) return std::nullopt;
    work.id = ++last_;
    tags_.emplace(work.id, tag);
    const auto ticket = work.id;
    waiting_.emplace(ticket, std::move(work));
    return accepted{ticket, std::exchange(pool_waits_, false)};
  }
  void close() {
    const std::lock_guard held(mutex_);
    closed_ = true;
  }

  /// Takes it back, unless the pool has it or it has ended.
  [[nodiscard]] bool withdraw(pool::item_id ticket) {
    const std::lock_guard held(mutex_);
    return waiting_.erase(ticket) > 0;
  }
  /// Takes back all that the pool has not, in order.
  [[nodiscard]] std::vector<pool::item_id> withdraw_all() {
    const std::lock_guard held(mutex_);
    std::vector<pool::item_id> tickets;
    for (const auto& [ticket, work] : waiting_) tickets.push_back(ticket);
    waiting_.clear();
    return tickets;
  }

  [[nodiscard]] std::uint64_t tag_of(pool::item_id ticket) {
    const std::lock_guard held(mutex_);
    return tags_.at(ticket);
  }
  /// Its END is on its way.
  std::uint64_t forget(pool::item_id ticket) {
    const std::lock_guard held(mutex_);
    return tags_.extract(ticket).mapped();
  }

  pool::pull next() override {
    const std::lock_guard held(mutex_);
    if (auto first = waiting_.begin(); first != waiting_.end()) {
      return std::move(waiting_.extract(first).mapped());
    }
    if (closed_) return pool::exhausted{};
    pool_waits_ = true;
    return pool::later{};
  }
  void on_end(pool::item_id /*id*/, const result<chat::reply>& /*outcome*/) override {}

 private:
  std::mutex mutex_;
  std::map<pool::item_id, pool::work> waiting_;  ///< In the order of submission.
  std::unordered_map<pool::item_id, std::uint64_t> tags_;
  pool::item_id last_ = 0;
  bool pool_waits_ = false;
  bool closed_ = false;
};

}  // namespace evalcore::capi
