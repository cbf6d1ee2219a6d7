#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/pool/source.hpp>
#include <evalcore/run/cost.hpp>

namespace evalcore::run {

/// Stands between a source and the pool, knows the most that each request can cost, and keeps what is spent
/// within a bound: a request that could break it waits for the true costs of what is in flight, and ends the
/// run when nothing is.
class budgeted_source final : public pool::source {
 public:
  /// `from` must outlive it and has `items` items. `exact`: its prompts are counted in the backend's tokens.
  /// `spent`: before.
  budgeted_source(pool::source& from, std::size_t items, const price& at, bool exact, pico_usd spent,
                  std::optional<pico_usd> most)
      : from_(from), at_(at), exact_(exact), most_(most), committed_{spent, spent}, bounds_(items) {}

  pool::pull next() override {
    if (stopped_) return pool::exhausted{};
    if (!parked_) {
      auto pulled = from_.next();
      auto* one = std::get_if<pool::work>(&pulled);
      if (one == nullptr) return pulled;
      bounds_[one->id] = cost_bound(
          one->request, exact_ ? std::optional<std::uint64_t>(one->prompt_tokens) : std::nullopt, at_);
      parked_ = std::move(*one);
    }
    const cost bound{0, bounds_[parked_->id]};
    cost next = committed_;
    next += bound;
    if (most_ && (!next.most || *next.most > *most_)) {
      if (in_flight_ > 0) return pool::hold{};
      stopped_ = true;
      return pool::exhausted{};
    }
    committed_ = next;
    in_flight_ += 1;
    return *std::exchange(parked_, std::nullopt);
  }

  void on_first_token(pool::item_id id) override { from_.on_first_token(id); }
  void on_pause(bool paused) override { from_.on_pause(paused); }
  void on_retry(pool::item_id id, const error& why) override {
    if (may_be_billed(why)) committed_ += cost{0, bounds_[id]};
    from_.on_retry(id, why);
  }
  void on_end(pool::item_id id, const result<chat::reply>& outcome) override {
    in_flight_ -= 1;
    const auto charged = cost_of(outcome, bounds_[id], at_);
    if (committed_.most && bounds_[id]) *committed_.most -= *bounds_[id];
    committed_ += charged;
    from_.on_end(id, outcome);
  }
  void on_shared(const result<void>& outcome) override { from_.on_shared(outcome); }

  /// Something was left because it might have cost too much. To be read once the pool has drained.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// The most that one attempt of this item can cost. Written on the loop before its `started` event.
  [[nodiscard]] std::optional<pico_usd> bound(pool::item_id id) const { return bounds_[id]; }

 private:
  pool::source& from_;
  price at_;
  bool exact_;
  std::optional<pico_usd> most_;
  cost committed_;  ///< Spent, and the bounds of what is in flight.
  std::vector<std::optional<pico_usd>> bounds_;
  std::optional<pool::work> parked_;  ///< Waits until it can be paid.
  std::uint64_t in_flight_ = 0;
  bool stopped_ = false;
};

}  // namespace evalcore::run
