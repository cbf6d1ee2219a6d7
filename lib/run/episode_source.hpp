#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <evalcore/pool/source.hpp>

#include "run/episode_order.hpp"

namespace evalcore::run {

/// Hands the turns that the host gave to the pool, in the order of episode_order. next() comes on the loop,
/// the rest from the host's threads; nobody waits in here for longer than a look at the order takes.
class episode_source final : public pool::source {
 public:
  episode_source(std::uint32_t bound, bool slots) : order_(bound, slots) {}

  pool::pull next() override {
    const std::lock_guard lock(mutex_);
    const auto chosen = order_.next();
    if (!chosen) return pool::later{};
    pool::work turn = std::move(offers_.extract(chosen->episode).mapped());
    turn.request.hints.slot = chosen->slot;
    slots_[turn.id] = chosen->slot;
    return turn;
  }
  void on_end(pool::item_id /*id*/, const result<chat::reply>& /*outcome*/) override {}

  /// The episode's next turn; it has no other that waits.
  void offer(episode_number of, pool::work turn, bool resumed) {
    const std::lock_guard lock(mutex_);
    offers_.insert_or_assign(of, std::move(turn));
    order_.ready(of, resumed);
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
  /// The slot in which a turn went out; asked once.
  std::optional<std::uint32_t> take_slot(pool::item_id turn) {
    const std::lock_guard lock(mutex_);
    const auto gone = slots_.extract(turn);
    return gone ? gone.mapped() : std::nullopt;
  }

 private:
  std::mutex mutex_;
  episode_order order_;
  std::map<episode_number, pool::work> offers_;
  std::map<pool::item_id, std::optional<std::uint32_t>> slots_;
};

}  // namespace evalcore::run
