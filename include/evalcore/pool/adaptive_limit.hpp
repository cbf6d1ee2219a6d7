#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

#include <evalcore/base/clock.hpp>
#include <evalcore/pool/goodput_window.hpp>
#include <evalcore/pool/limit_history.hpp>
#include <evalcore/pool/token_bound.hpp>

namespace evalcore::pool {

/// What the end of an attempt says about the server's load.
enum class load_sign {
  answered,
  rejected,  ///< The server has no room: 429, 503, 529, out of memory.
  failed,    ///< Transport, timeout, another 5xx, a server that died.
  none,      ///< Nothing: a request that the server does not take, a cancelled one.
};

struct attempt_report {
  load_sign sign = load_sign::none;
  duration total = {};                       ///< From sending to the end.
  std::optional<duration> first_token = {};  ///< From sending.
  /// Completion tokens. Where the first answer does not tell, goodput is counted in answers; where it does, a
  /// later answer that does not tell is left out.
  std::optional<std::uint64_t> tokens = {};
};

/// Numbers in flight; 1 <= floor <= start <= ceiling, others are moved to the nearest that are.
struct limit_bounds {
  std::uint32_t floor = 1;
  std::uint32_t start = 2;
  std::uint32_t ceiling = 256;
};

/// How many requests to have in flight at one endpoint, found out while they run: few that bring about the
/// best goodput (completion tokens of answered requests a second).
///
/// Growth: it starts with few and lets one more in for each answer, so that the number doubles with each
/// round, until goodput does not grow with it any more; then it goes back to where it stopped growing, and a
/// little above.
///
/// Probes: from time to time it tries a few more for a round, and keeps them if they pay; or a few less, when
/// goodput fell with more or the first token takes much longer than it can.
///
/// Cuts: a rejection cuts it to what the server had taken, failures in a row to the start, or half where that
/// is less. The level is not passed again for a while.
///
/// Tokens: a goodput that breaks in bounds the tokens in flight (see token_bound), not the number of
/// requests.
///
/// A state machine without clock: tell it each start and end. Each call takes constant time. Not thread-safe.
class adaptive_limit {
 public:
  explicit adaptive_limit(limit_bounds bounds);

  /// An attempt was sent. Its number is new; 0 prompt tokens: unknown.
  void started(std::uint64_t attempt, std::uint64_t prompt_tokens, instant now);
  /// It is over; a number that is not in flight is ignored.
  void ended(std::uint64_t attempt, const attempt_report& report, instant now);
  /// By a person, while it runs. What is in flight above a lower ceiling goes on; `start` is not used again
  /// until failures in a row.
  void set_bounds(limit_bounds bounds, instant now);

  /// For one more, by number and by tokens. One is always allowed.
  [[nodiscard]] bool has_room() const noexcept { return flying_.size() < limit_ && tokens_.has_room(); }
  [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::span<const limit_change> history() const noexcept { return history_.changes(); }

 private:
  static constexpr auto no_level = std::numeric_limits<std::uint32_t>::max();

  enum class phase {
    growing,  // One more for each answer.
    steady,
    probing,  // Growing to target_, or already there and measuring; or measuring with less.
  };
  struct flight {
    std::uint64_t number;  // Of all attempts, in the order of sending.
    double load;           // Integral of the number in flight until then, in seconds.
    std::uint32_t level;   // In flight when it was sent, with itself.
    double tokens;         // That it counts for.
  };

  // What ends tell (adaptive_limit.cpp).
  void pass_time(instant now);
  std::optional<goodput_sample> sample(const flight& one, const attempt_report& report);
  void answered(const flight& one, const attempt_report& report, std::uint32_t level, instant now);
  void bound_tokens(const flight& one, const attempt_report& report, const goodput_sample& seen, instant now);
  void rejected(const flight& one, instant now);
  void failed(const flight& one, std::uint32_t level, instant now);
  void grow(std::uint32_t level, instant now);
  void cut(std::uint32_t limit, limit_reason why, instant now);
  void hold(std::uint32_t level, duration least, instant now);
  [[nodiscard]] std::uint32_t highest(instant now) const;
  void set_limit(std::uint32_t limit, limit_reason why, instant now);

  // What goodput tells (adaptive_limit_goodput.cpp).
  void count(const goodput_sample& one, bool draining, instant now);
  void round_ended(instant now);
  void growing_round(instant now);
  void steady_round(instant now);
  void probing_round(instant now);
  void end_probe(bool kept, instant now);
  void start_growing();
  void start_steady(double limit, limit_reason why, instant now);
  void settle();
  void start_round();

  limit_bounds bounds_;
  std::uint32_t limit_;
  limit_history history_;
  token_bound tokens_;
  phase phase_ = phase::growing;
  std::uint32_t target_ = no_level;  // Where growing, or a probe, ends.

  std::unordered_map<std::uint64_t, flight> flying_;
  std::uint64_t sent_ = 0;
  instant last_{};
  double load_ = 0;
  std::optional<bool> counts_tokens_;

  // Attempts that were sent before the last cut do not tell of the limit after it.
  std::uint64_t cut_ = 0;  // Number of the first attempt after the cut.
  bool answered_since_cut_ = false;
  std::uint32_t failures_ = 0;          // In a row.
  std::uint32_t level_at_failure_ = 0;  // In flight at the first of them.

  std::optional<std::uint32_t> held_;  // Highest level that is tried until held_until_.
  instant held_until_{};
  duration held_for_{};

  goodput_window round_;  // Of round_size_ ends.
  std::uint32_t round_size_ = 0;
  std::uint32_t round_limit_ = 0;  // At its start.
  std::uint32_t settling_ = 0;     // Ends until the round begins, since they tell of the limit before.
  goodput_window before_;          // What the round is compared with: the round, or the rounds, before.
  bool renew_ = false;             // before_ is of another limit.
  goodput_window recent_;          // The last few ends, for pays_.
  bool pays_ = true;               // Growing, by the last few ends.
  bool doubted_ = false;           // The last round said that growing does not pay; one more is to say so.

  std::uint32_t before_probe_ = 0;
  double step_;                 // Of a probe, part of the limit.
  bool down_next_ = false;      // The next probe is one of less.
  std::uint32_t interval_ = 1;  // Rounds between probes.
  std::uint32_t wait_ = 1;      // Rounds until the next.
  std::optional<double> best_first_token_;
};

}  // namespace evalcore::pool
