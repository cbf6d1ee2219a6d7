#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/error.hpp>
#include <evalcore/pool/adaptive_limit.hpp>
#include <evalcore/pool/options.hpp>

#include "pool/circuit_breaker.hpp"
#include "pool/rate_pacer.hpp"

namespace evalcore::pool {

/// One attempt that is out.
struct booking {
  std::uint64_t attempt = 0;  ///< Counts all attempts of the pool.
  bool probe = false;         ///< It finds out whether the endpoint is back.
  double tokens = 0;
};

/// Whether one endpoint may be sent to: its limit on requests in flight, its breaker, its rate, and what it
/// asked for. No clock inside.
class endpoint_gate {
 public:
  explicit endpoint_gate(const options& how);

  [[nodiscard]] bool open(instant now) const;
  /// Not open, and not for want of room.
  [[nodiscard]] bool paused(instant now) const;
  /// When time alone may open it; nothing when it waits for an end, or for ever.
  [[nodiscard]] std::optional<instant> opens_at() const;
  /// Nothing will go out to it within the longest wait: it refused our key, asked for a longer wait, or has
  /// been away for too long.
  [[nodiscard]] bool out_of_use(instant now) const;
  /// When out_of_use() may change by time alone.
  [[nodiscard]] std::optional<instant> given_up_at() const { return breaker_.gives_up_at(); }

  [[nodiscard]] booking sent(std::uint64_t attempt, std::uint64_t prompt_tokens, instant now);
  /// Its first token has come.
  void answering(booking& one);
  void answered(const booking& one, const attempt_report& report, std::optional<std::uint64_t> used,
                instant now);
  /// `jitter` is uniform in [0, 1).
  void failed(const booking& one, const attempt_report& report, const error& why, double jitter, instant now);
  void reported(const backend::rate_report& limits, instant now) { pacer_.reported(limits, now); }

  [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::uint32_t limit() const noexcept;
  void set_limit(std::uint32_t most, instant now);
  [[nodiscard]] std::uint64_t ejections() const noexcept { return breaker_.ejections(); }
  [[nodiscard]] bool breaker_closed() const noexcept { return breaker_.closed(); }
  /// Only of an adaptive limit.
  [[nodiscard]] std::span<const limit_change> history() const;

 private:
  [[nodiscard]] bool has_room() const noexcept;
  void pause_until(instant until);

  options how_;
  std::optional<adaptive_limit> adaptive_;
  circuit_breaker breaker_;
  rate_pacer pacer_;
  std::uint32_t limit_;  ///< Without adaptive_.
  std::uint32_t in_flight_ = 0;
  std::uint64_t newest_attempt_ = 0;
  std::uint64_t halved_at_ = 0;  ///< Attempts up to this one were out when the server died.
  std::optional<instant> paused_until_;
  std::uint32_t refusals_in_a_row_ = 0;  ///< Of the key or the account.
};

}  // namespace evalcore::pool
