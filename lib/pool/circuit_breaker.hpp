#pragma once

#include <cstdint>
#include <optional>

#include <evalcore/pool/options.hpp>

namespace evalcore::pool {

/// Leaves an endpoint alone that fails again and again, and finds out when it is back: closed (all may go
/// out), open (nothing may), half open (one probe is out).
class circuit_breaker {
 public:
  explicit circuit_breaker(const breaker_options& how) : how_(how), wait_(how.first_probe) {}

  [[nodiscard]] bool closed() const noexcept { return !open_; }
  [[nodiscard]] bool may_send(instant now) const noexcept {
    return closed() || (!probing_ && now >= probe_at_);
  }
  /// When the next probe may go out; nothing while the breaker is closed or a probe is out.
  [[nodiscard]] std::optional<instant> probe_at() const noexcept {
    return closed() || probing_ ? std::nullopt : std::optional(probe_at_);
  }
  /// The endpoint has failed for longer than may be.
  [[nodiscard]] bool given_up(instant now) const noexcept {
    return open_ && how_.max_outage > duration::zero() && now - out_since_ >= how_.max_outage;
  }
  [[nodiscard]] std::optional<instant> gives_up_at() const noexcept {
    return open_ && how_.max_outage > duration::zero() ? std::optional(out_since_ + how_.max_outage)
                                                       : std::nullopt;
  }
  /// How many outages there were.
  [[nodiscard]] std::uint64_t ejections() const noexcept { return ejections_; }

  /// A request goes out; true when it is the probe.
  bool sent() noexcept {
    if (closed()) return false;
    probing_ = true;
    return true;
  }
  /// A streamed answer has begun, so the endpoint works. It is on trial until one is whole: a failure before
  /// that opens the breaker again and the outage goes on, without the time of the trial.
  void answering() noexcept {
    if (closed()) return;
    open_ = false;
    probing_ = false;
    on_trial_ = true;
  }
  /// The endpoint answered, well or with a refusal of this one request.
  void answered() noexcept {
    open_ = false;
    on_trial_ = false;
    probing_ = false;
    in_a_row_ = 0;
    wait_ = how_.first_probe;
  }
  /// The endpoint failed. Those that were out when the breaker opened say nothing new.
  void failed(bool probe, instant now) noexcept;
  /// It ended without a word about the endpoint, by being cancelled.
  void gone(bool probe) noexcept {
    if (probe) probing_ = false;
  }

 private:
  breaker_options how_;
  std::uint32_t in_a_row_ = 0;
  instant out_since_;  ///< Begin of the outage, while open or on trial.
  instant probe_at_;
  duration wait_;
  bool open_ = false;
  bool on_trial_ = false;
  bool probing_ = false;
  std::uint64_t ejections_ = 0;
};

inline void circuit_breaker::failed(bool probe, instant now) noexcept {
  if (closed() && !on_trial_) {
    if (++in_a_row_ < how_.failures) return;
    out_since_ = now;
    ++ejections_;
  } else {
    if (!on_trial_ && !probe) return;
    if (on_trial_) out_since_ = now - (probe_at_ - out_since_);
    on_trial_ = false;
    probing_ = false;
    wait_ = wait_ * 2 < how_.longest_probe ? wait_ * 2 : how_.longest_probe;
  }
  open_ = true;
  probe_at_ = now + wait_;
}

}  // namespace evalcore::pool
