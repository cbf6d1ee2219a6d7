#pragma once

#include <optional>

#include <evalcore/base/clock.hpp>

namespace evalcore::engine {

/// How long a batch that begins waits for company. What joins later never holds up what runs.
class collection_window {
 public:
  explicit collection_window(duration length) : length_(length) {}

  void open(instant now) { until_ = now + length_; }
  /// Nobody else can join now: it is full, or whoever is next may not.
  void shut() { until_.reset(); }
  /// When it ends; absent: it has.
  [[nodiscard]] std::optional<instant> open_until(instant now) {
    if (until_ && *until_ <= now) until_.reset();
    return until_;
  }

 private:
  duration length_;
  std::optional<instant> until_;
};

}  // namespace evalcore::engine
