// What goodput says about the limit: rounds that are compared, probes, and a look at the last few ends.
#include <algorithm>
#include <cmath>

#include <evalcore/pool/adaptive_limit.hpp>

namespace evalcore::pool {

namespace {

// Gains are powers, see gain().
constexpr double worth_growing = 0.25;
constexpr double worth_keeping = 0.2;
constexpr double loses = -0.5;  // Goodput fell, by more than noise.

constexpr double headroom = 1.25;  // Above the knee: costs a queue, saves time when the server gets faster.
constexpr double probe_step = 0.15;
constexpr double careful_step = 0.1;    // Once a probe did not pay. Less does not stand out from the noise.
constexpr double slow_first_token = 3;  // Times the best.

constexpr std::uint32_t least_growing_round = 5;
constexpr std::uint32_t least_steady_round = 24;
constexpr std::uint32_t least_recent = 8;
constexpr std::uint32_t most_recent = 16;
constexpr std::uint32_t longest_interval = 32;

std::uint32_t whole(double level) { return static_cast<std::uint32_t>(std::lround(level)); }

/// Gain of goodput for the gain in flight, as a power: 1 is all of it, 0 none, less than 0 a loss. Nothing
/// where the numbers in flight are too near to each other, or something is 0.
std::optional<double> gain(const goodput_window& from, const goodput_window& to) {
  constexpr double too_near = 0.03;
  const double in_flight = std::log(to.in_flight() / from.in_flight());
  const double goodput = std::log(to.goodput() / from.goodput());
  if (!std::isfinite(in_flight) || !std::isfinite(goodput) || std::abs(in_flight) < too_near) {
    return std::nullopt;
  }
  return goodput / in_flight;
}

/// The same, where there is clearly more in flight than before.
std::optional<double> gain_of_growth(const goodput_window& from, const goodput_window& to) {
  return to.in_flight() > 1.1 * from.in_flight() ? gain(from, to) : std::nullopt;
}

}  // namespace

void adaptive_limit::count(const goodput_sample& one, bool draining, instant now) {
  recent_.add(one);
  if (recent_.ends() >= std::clamp(limit_ / 8, least_recent, most_recent)) {
    const auto gained = gain_of_growth(before_, recent_);
    pays_ = !gained || *gained >= worth_growing;
    recent_ = {};
  }
  if (draining || (phase_ == phase::probing && limit_ < target_)) return;
  if (settling_ > 0) {
    --settling_;
    return;
  }
  round_.add(one);
  if (round_.ends() < round_size_) return;
  round_ended(now);
  start_round();
}

void adaptive_limit::round_ended(instant now) {
  if (const auto first = round_.first_token()) {
    best_first_token_ = std::min(best_first_token_.value_or(*first), *first);
  }
  if (phase_ == phase::growing) return growing_round(now);
  const bool all_used = round_.in_flight() >= 0.8 * limit_;
  if (all_used && phase_ == phase::steady) return steady_round(now);
  if (all_used) return probing_round(now);
}

void adaptive_limit::growing_round(instant now) {
  const auto gained = gain_of_growth(before_, round_);
  if (!gained || *gained >= worth_growing) {
    doubted_ = false;
    before_ = round_;
    if (limit_ >= std::min(target_, highest(now))) start_steady(limit_, limit_reason::found_knee, now);
    return;
  }
  if (!doubted_) {
    doubted_ = true;
    return;
  }
  const double more = round_.goodput() / before_.goodput();
  const bool fell = more < 0.9;
  start_steady(before_.in_flight() * (fell ? 1.0 : std::max(1.0, more) * headroom), limit_reason::found_knee,
               now);
  down_next_ = fell;
}

void adaptive_limit::steady_round(instant now) {
  before_.fade(renew_ ? 0.0 : 0.5);
  before_.add(round_);
  renew_ = false;
  if (wait_ > 1) {
    --wait_;
    return;
  }
  const auto first = before_.first_token();
  const bool slow = first && *first > slow_first_token * *best_first_token_;
  before_probe_ = limit_;
  if ((slow || down_next_) && limit_ > bounds_.floor) {
    const auto by = std::max(whole(limit_ * step_), std::uint32_t{1});
    target_ = std::max(limit_ - std::min(by, limit_ - 1), bounds_.floor);
    phase_ = phase::probing;
    set_limit(target_, limit_reason::probed, now);
    settle();
  } else if (limit_ < highest(now)) {
    target_ = std::min(limit_ + std::max(whole(limit_ * step_), std::uint32_t{1}), highest(now));
    phase_ = phase::probing;
  }
}

void adaptive_limit::probing_round(instant now) {
  const auto gained = gain(before_, round_);
  if (target_ > before_probe_) return end_probe(gained && *gained >= worth_keeping, now);
  end_probe(gained && *gained < (down_next_ ? loses : worth_keeping), now);
}

void adaptive_limit::end_probe(bool kept, instant now) {
  const bool up = target_ > before_probe_;
  if (!kept) {
    // As slow as it is, it is worth it.
    if (!up && before_.first_token()) best_first_token_ = *before_.first_token() / slow_first_token;
    const auto interval = std::min(2 * interval_, longest_interval);
    start_steady(before_probe_, limit_reason::probe_ended, now);
    renew_ = false;
    step_ = careful_step;
    wait_ = interval_ = interval;
    return;
  }
  const auto seen = round_;
  if (up) {
    if (held_ && limit_ > 1.5 * *held_) held_.reset();
    start_growing();
    before_ = seen;
    return;
  }
  before_ = seen;
  phase_ = phase::steady;
  target_ = limit_;
  wait_ = interval_;
  settle();
}

void adaptive_limit::start_growing() {
  phase_ = phase::growing;
  target_ = no_level;
  before_ = {};
  interval_ = wait_ = 1;
  step_ = probe_step;
  settling_ = 0;
  pays_ = true;
  doubted_ = down_next_ = false;
  start_round();
}

void adaptive_limit::start_steady(double limit, limit_reason why, instant now) {
  phase_ = phase::steady;
  set_limit(std::clamp(whole(std::ceil(limit)), bounds_.floor, bounds_.ceiling), why, now);
  target_ = limit_;
  renew_ = true;
  down_next_ = false;
  step_ = probe_step;
  wait_ = 1;
  settle();
}

void adaptive_limit::settle() {
  settling_ = limit_;
  start_round();
}

void adaptive_limit::start_round() {
  round_ = {};
  round_limit_ = limit_;
  round_size_ = std::max(limit_, phase_ == phase::growing ? least_growing_round : least_steady_round);
}

}  // namespace evalcore::pool
