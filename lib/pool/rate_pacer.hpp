#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <evalcore/backend/backend.hpp>
#include <evalcore/pool/options.hpp>

namespace evalcore::pool {

/// Spreads what costs `n` a minute evenly: a cost of c is followed by c / n minutes of rest, so that no
/// minute holds more than n (and one request more where costs are above 1).
class pacer {
 public:
  pacer() = default;
  explicit pacer(std::optional<std::uint64_t> per_minute) {
    if (per_minute && *per_minute > 0) rest_ = minute_ns / static_cast<double>(*per_minute);
  }

  /// When the next may go; the past when it may now.
  [[nodiscard]] instant free_at() const noexcept { return free_at_; }
  void spend(double cost, instant now) { free_at_ = std::max(free_at_, now) + span(cost); }
  /// What was spent turns out to have cost more, or less.
  void correct(double difference) { free_at_ += span(difference); }

 private:
  static constexpr double minute_ns = 60e9;
  [[nodiscard]] duration span(double cost) const { return duration(static_cast<std::int64_t>(cost * rest_)); }

  double rest_ = 0;  ///< Nanoseconds for a cost of 1; 0: no bound.
  instant free_at_{};
};

/// One endpoint's limits on requests and tokens in a minute: those that the user set, and those that the
/// server reports with its answers.
class rate_pacer {
 public:
  explicit rate_pacer(const rate_options& how)
      : requests_(how.requests_per_minute), tokens_(how.tokens_per_minute) {}

  [[nodiscard]] instant free_at() const noexcept {
    return std::max({requests_.free_at(), tokens_.free_at(), held_until_});
  }
  /// A request goes out. Returns the tokens it is booked with, to be given back to ended().
  double sent(std::uint64_t prompt_tokens, instant now) {
    const double booked = static_cast<double>(prompt_tokens) + answer_tokens_;
    requests_.spend(1, now);
    tokens_.spend(booked, now);
    return booked;
  }
  /// `used` is what the reply reports; absent (unknown, or failed) leaves the booking as it is.
  void ended(double booked, std::optional<std::uint64_t> used, std::optional<std::uint64_t> answer) {
    if (used) tokens_.correct(static_cast<double>(*used) - booked);
    // What answers of this run come to, so that the next booking is near.
    if (answer) answer_tokens_ += (static_cast<double>(*answer) - answer_tokens_) / 8;
  }
  /// The server has said that the minute's requests or tokens are used up.
  [[nodiscard]] bool quota_spent(instant now) const noexcept { return now < held_until_; }
  void reported(const backend::rate_report& limits, instant now) {
    hold(limits.requests, 1, now);
    hold(limits.tokens, answer_tokens_ + 1, now);
  }

 private:
  /// Nothing goes out that the server has said it has no room for. Its room fills up evenly, so the wait
  /// ends when there is enough for one more, which is before the window is new.
  void hold(const backend::rate_window& window, double need, instant now) {
    if (!window.remaining || !window.resets_in) return;
    const double missing = need - static_cast<double>(*window.remaining);
    if (missing <= 0) return;
    auto wait = *window.resets_in;
    if (window.limit && *window.limit > 0) {
      const double ns = missing * 60e9 / static_cast<double>(*window.limit);
      if (ns < static_cast<double>(wait.count())) wait = duration(static_cast<std::int64_t>(ns));
    }
    held_until_ = std::max(held_until_, now + wait);
  }

  pacer requests_;
  pacer tokens_;
  double answer_tokens_ = 0;
  instant held_until_{};
};

}  // namespace evalcore::pool
