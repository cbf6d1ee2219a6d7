#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <evalcore/base/clock.hpp>

namespace evalcore::prefix {

/// What waiting for prefixes has cost: the time of places that stayed free for it, against the time of all
/// places. There are as many as were ever taken at one time.
class waiting_bill {
 public:
  /// Of the time of all places, what waiting may take where nobody tells what it brings.
  static constexpr double most = 0.01;

  explicit waiting_bill(std::size_t places) : places_(places) {}

  /// Before a decision.
  void run_until(instant now) {
    const double passed = paused_ ? 0 : std::chrono::duration<double>(now - at_).count();
    busy_ += passed * static_cast<double>(running_);
    if (held_) idle_ += passed * static_cast<double>(places_ - running_);
    at_ = now;
  }
  /// While nothing can go out no place is free for a prefix: that time is nobody's.
  void pause(bool paused, instant now) {
    run_until(now);
    paused_ = paused;
  }
  /// After it: what runs from here on, and whether the rest is held.
  void decided(std::size_t running, bool held) {
    running_ = running;
    held_ = held;
    places_ = std::max(places_, running);
  }

  /// Places that would be free with so many running.
  [[nodiscard]] std::size_t free(std::size_t running) const {
    return places_ > running ? places_ - running : 0;
  }
  /// Whether it is beyond that part by now, and if not, when a hold from now on will be with so many running;
  /// absent: never.
  [[nodiscard]] bool too_dear() const { return idle_ >= most * (busy_ + idle_) && idle_ > 0; }
  [[nodiscard]] std::optional<instant> too_dear_at(std::size_t running) const {
    const double grows = static_cast<double>(free(running)) - most * static_cast<double>(places_);
    if (grows <= 0) return std::nullopt;
    const std::chrono::duration<double> lasts((most * (busy_ + idle_) - idle_) / grows);
    // Rounded up, so that it is then.
    return at_ + std::chrono::duration_cast<duration>(lasts) + duration(1);
  }

 private:
  instant at_{};
  std::size_t running_ = 0;
  std::size_t places_;
  bool held_ = false;
  bool paused_ = false;
  double busy_ = 0;
  double idle_ = 0;
};

}  // namespace evalcore::prefix
