#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <evalcore/base/clock.hpp>

#include "engine/job.hpp"

namespace evalcore::engine {

using control_id = std::uint64_t;

/// What waits for the engine: requests and controls, first come, first served. Nothing overtakes: whoever
/// may not join what runs holds up all behind it. Asides, which concern no row, wait beside them.
class waiting_queue {
 public:
  waiting_queue(std::uint32_t most, duration patience) : most_(most), patience_(patience) {}

  [[nodiscard]] std::size_t size() const noexcept { return items_.size() + asides_.size(); }
  /// Asides not counted.
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] bool full() const noexcept { return size() >= most_; }

  void push(std::unique_ptr<job> one) { items_.emplace_back(std::move(one)); }
  void push(control_id one) { items_.emplace_back(one); }
  void push_aside(control_id one) { asides_.push_back(one); }

  /// The request at the head; null: the queue is empty, or a control is there.
  [[nodiscard]] const job* first_job() const {
    const auto* found = items_.empty() ? nullptr : std::get_if<std::unique_ptr<job>>(&items_.front());
    return found == nullptr ? nullptr : found->get();
  }
  /// Takes the request that first_job() names.
  [[nodiscard]] std::unique_ptr<job> take_job() {
    auto one = std::get<std::unique_ptr<job>>(std::move(items_.front()));
    items_.pop_front();
    return one;
  }
  /// Takes the control at the head, if there is one.
  [[nodiscard]] std::optional<control_id> take_control() {
    if (items_.empty() || !std::holds_alternative<control_id>(items_.front())) return std::nullopt;
    const auto one = std::get<control_id>(items_.front());
    items_.pop_front();
    return one;
  }

  /// Takes the first aside, if there is one.
  [[nodiscard]] std::optional<control_id> take_aside() {
    if (asides_.empty()) return std::nullopt;
    const auto one = asides_.front();
    asides_.pop_front();
    return one;
  }

  /// Takes a request out of its place. Null: it does not wait.
  [[nodiscard]] std::unique_ptr<job> withdraw(job_id which) {
    for (auto at = items_.begin(); at != items_.end(); ++at) {
      auto* found = std::get_if<std::unique_ptr<job>>(&*at);
      if (found == nullptr || (*found)->id != which) continue;
      auto one = std::move(*found);
      items_.erase(at);
      return one;
    }
    return nullptr;
  }
  /// Takes the first request whose patience has ended. All have the same, so the first in the queue is the
  /// first to lose it.
  [[nodiscard]] std::unique_ptr<job> take_expired(instant now) {
    const auto* first = earliest();
    if (first == nullptr || first->submitted + patience_ > now) return nullptr;
    return withdraw(first->id);
  }
  /// When the next request expires.
  [[nodiscard]] std::optional<instant> expires_at() const {
    const auto* first = earliest();
    return first == nullptr ? std::nullopt : std::optional(first->submitted + patience_);
  }

 private:
  [[nodiscard]] const job* earliest() const {
    for (const auto& item : items_) {
      if (const auto* found = std::get_if<std::unique_ptr<job>>(&item)) return found->get();
    }
    return nullptr;
  }

  std::size_t most_;
  duration patience_;
  std::deque<std::variant<std::unique_ptr<job>, control_id>> items_;
  std::deque<control_id> asides_;
};

}  // namespace evalcore::engine
