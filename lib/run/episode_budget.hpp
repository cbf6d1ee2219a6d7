#pragma once

#include <optional>

#include <evalcore/chat/reply.hpp>
#include <evalcore/run/episode.hpp>

namespace evalcore::run {

/// What one episode has used, against its limits. Pure: time comes in as an argument.
class episode_budget {
 public:
  explicit episode_budget(episode_limits limits) : limits_(limits) {}

  /// A request went out; the first one starts the clock.
  void sent(instant now);
  void replied(const chat::usage& reported);
  void spent(double cost) { use_.cost += cost; }

  /// The limit that forbids another turn.
  [[nodiscard]] std::optional<episode_end> met(instant now) const;
  /// When the time is over, once the clock runs.
  [[nodiscard]] std::optional<instant> deadline() const;
  [[nodiscard]] const episode_use& use() const noexcept { return use_; }

 private:
  episode_limits limits_;
  episode_use use_;
  std::optional<instant> began_;
};

}  // namespace evalcore::run
