#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include <evalcore/pool/source.hpp>

#include "run/episode_order.hpp"

namespace evalcore::run {

/// Hands the turns that the host gave to the pool, in the order of episode_order. next() comes on the loop,
/// the rest from the host's threads; nobody waits in here for longer than a look at the order takes.
class episode_source final : public pool::source {
 public:
  explicit episode_source(episode_places places) : order_(places) {}

  pool::pull next() override {
    const std::lock_guard lock(mutex_);
    auto chosen = order_.next();
    if (auto* copy = std::get_if<episode_order::copy>(&chosen)) {
      return pool::share_prefix{copy->from, std::move(copy->to)};
    }
    const auto* turn = std::get_if<episode_order::turn>(&chosen);
    if (turn == nullptr) return pool::later{};
    pool::work work = std::move(offers_.extract(turn->episode).mapped());
    work.request.hints.slot = turn->slot;
    out_[work.id] = *turn;
    return work;
  }
  void on_first_token(pool::item_id id) override {
    const std::lock_guard lock(mutex_);
    if (const auto turn = out_.find(id); turn != out_.end()) order_.first_token(turn->second.episode);
  }
  void on_end(pool::item_id id, const result<chat::reply>& outcome) override {
    const std::lock_guard lock(mutex_);
    if (const auto turn = out_.extract(id)) order_.turn_ended(turn.mapped().episode, outcome.has_value());
  }
  void on_shared(const result<void>& outcome) override {
    const std::lock_guard lock(mutex_);
    order_.shared(outcome.has_value());
  }

  /// The episode's next turn; it has no other that waits.
  void offer(episode_number of, pool::work turn, bool resumed, std::uint64_t family) {
    const std::lock_guard lock(mutex_);
    offers_.insert_or_assign(of, std::move(turn));
    order_.ready(of, resumed, family);
  }
  /// False when the turn has gone to the pool.
  bool withdraw(episode_number of) {
    const std::lock_guard lock(mutex_);
    if (!order_.withdraw(of)) return false;
    offers_.erase(of);
    return true;
  }
  void end(episode_number of) {
    const std::lock_guard lock(mutex_);
    order_.end(of);
    offers_.erase(of);
  }
  /// The slot that the episode has.
  std::optional<std::uint32_t> slot_of(episode_number of) {
    const std::lock_guard lock(mutex_);
    return order_.slot_of(of);
  }

 private:
  std::mutex mutex_;
  episode_order order_;
  std::map<episode_number, pool::work> offers_;
  std::map<pool::item_id, episode_order::turn> out_;
};

}  // namespace evalcore::run
