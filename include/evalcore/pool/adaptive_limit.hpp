#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/pool/goodput_window.hpp>

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
  std::optional<duration> first_token;       ///< From sending.
  std::optional<std::uint64_t> tokens = {};  ///< Completion tokens.
};

/// Numbers in flight; 1 <= floor <= start <= ceiling, others are moved to the nearest that are.
struct limit_bounds {
  std::uint32_t floor = 1;
  std::uint32_t start = 2;
  std::uint32_t ceiling = 256;
  bool operator==(const limit_bounds&) const = default;
};

enum class limit_reason {
  started,
  grew,
  found_knee,
  probed,
  probe_ended,
  rejected,
  collapsed,
  slowed,
  bounded
};
/// As written to summary.json, e.g. "found_knee".
[[nodiscard]] std::string_view name(limit_reason why) noexcept;

struct limit_change {
  instant at;
  std::uint32_t limit = 0;
  limit_reason why = limit_reason::started;
};

/// How many requests to have in flight at one endpoint, found out while they run: the fewest that bring about
/// the best goodput (completion tokens of answered requests a second).
///
/// - It starts with few and lets one more in for each answer, so that the number doubles with each round,
/// until
///   goodput does not grow with it any more; then it goes back to where it stopped growing, and a little
///   above.
/// - From time to time it tries a few more for a round, and keeps them if they pay; and a few less while the
///   first token takes much longer than it can.
/// - A rejection cuts it to what the server had taken; that level is not passed again for a while. Failures
/// in a
///   row cut it to the start; a goodput that breaks in cuts it to what that goodput needs.
///
/// A state machine without clock: tell it each start and end. Each call takes constant time. Not thread-safe.
class adaptive_limit {
 public:
  explicit adaptive_limit(limit_bounds bounds);

  /// An attempt was sent. Its number is new.
  void started(std::uint64_t attempt, instant now);
  /// It is over; a number that is not in flight is ignored.
  void ended(std::uint64_t attempt, const attempt_report& report, instant now);
  /// What is in flight above a lower ceiling goes on.
  void set_bounds(limit_bounds bounds, instant now);

  [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }
  /// The changes so far, oldest first, at most 1,024: growth is told once a second, and when there are too
  /// many, every second one is forgotten.
  [[nodiscard]] std::span<const limit_change> history() const noexcept { return history_; }

 private:
  enum class phase { growing, steady, probing };
  struct flight {
    std::uint64_t number;  // Of all attempts, in the order of sending.
    instant sent;
    double load;          // Integral of the number in flight until then, in seconds.
    std::uint32_t level;  // In flight when it was sent, with itself.
  };

  void pass_time(instant now);
  [[nodiscard]] std::optional<goodput_sample> sample(const flight& one, const attempt_report& report,
                                                     instant now);
  void answered(const flight& one, const attempt_report& report, std::uint32_t level, instant now);
  void rejected(const flight& one, instant now);
  void failed(const flight& one, std::uint32_t level, instant now);

  [[nodiscard]] std::uint32_t highest(instant now) const;
  void grow(std::uint32_t level, instant now);
  void look_at_recent(instant now);
  void round_ended(instant now);
  void growing_round(instant now);
  void leave_growth(double level, limit_reason why, instant now);
  void steady_round(instant now);
  void probing_round(instant now);
  void end_probe(bool kept, const goodput_window& seen, instant now);
  void hold_below(std::uint32_t level, duration least, duration most, instant now);
  void grow_again(std::uint32_t from, limit_reason why, instant now);
  void settle();
  void start_round();
  void start_recent(instant now);
  void set_limit(std::uint32_t limit, limit_reason why, instant now);
  void note(limit_reason why, instant now);

  limit_bounds bounds_;
  std::uint32_t limit_;
  phase phase_ = phase::growing;
  std::uint32_t target_ = std::numeric_limits<std::uint32_t>::max();  // Grows until there.

  std::unordered_map<std::uint64_t, flight> flying_;
  std::uint64_t sent_ = 0;
  instant last_{};
  double load_ = 0;
  std::optional<bool> counts_tokens_;  // Or answers; the first answer decides.

  goodput_window window_;  // Of this round.
  std::uint32_t round_size_ = 0;
  std::uint32_t round_limit_ = 0;
  goodput_window recent_;  // The last few ends.
  double recent_tokens_ = 0;
  instant recent_since_{};
  goodput_window good_;
  std::uint32_t broken_ = 0;
  goodput_window before_;       // The rounds before, at this limit.
  bool renew_ = false;          // The reference is of another time: the next round replaces it.
  std::uint32_t settling_ = 0;  // Ends that are not looked at, since they began before the last change.
  std::optional<double> best_first_token_;

  std::uint32_t before_probe_ = 0;
  double step_;
  bool down_next_ = false;
  std::uint32_t down_failed_at_ = 0;
  bool failed_probe_ = false;
  bool pays_ = true;
  bool doubted_ = false;
  std::uint32_t interval_ = 1;  // Rounds between probes.
  std::uint32_t wait_ = 1;

  std::uint64_t cut_ = 0;  // Number of the first attempt after the last cut.
  bool answered_since_cut_ = false;
  std::optional<std::uint32_t> held_;  // Highest level that is tried until `held_until_`.
  instant held_until_{};
  duration hold_{};
  std::uint32_t failures_ = 0;  // In a row.
  std::uint32_t level_at_failure_ = 0;

  std::vector<limit_change> history_;
};

}  // namespace evalcore::pool
