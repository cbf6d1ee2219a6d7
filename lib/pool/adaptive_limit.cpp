#include <evalcore/pool/adaptive_limit.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace evalcore::pool {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;

constexpr double worth_growing = 0.25;  // Least gain of goodput for a gain in flight, both in logarithms.
constexpr double worth_keeping = 0.33;
constexpr double loses = -0.5;
constexpr double headroom = 1.25;    // Above the knee: costs a queue, saves when the server gets faster.
constexpr double first_step = 0.15;  // Of a probe, part of the limit.
constexpr double least_step = 0.1;
constexpr double most_step = 0.3;
constexpr double deep = 0.5;
constexpr double break_in = 0.7;        // Of the goodput that the number in flight should bring.
constexpr double slow_first_token = 3;  // Times the best.
constexpr double used = 0.9;            // Of the limit in flight: the limit is what bounds.
constexpr std::uint32_t least_recent = 8;
constexpr std::uint32_t most_recent = 16;
constexpr std::uint32_t least_round = 6;
constexpr std::uint32_t least_measure = 24;
constexpr std::uint32_t longest_interval = 32;
constexpr std::uint32_t least_failures = 5;
constexpr duration rejected_hold = 30s;
constexpr duration collapsed_hold = 10min;
constexpr duration slowed_hold = 30s;
constexpr duration slowed_longest = 120s;
constexpr duration longest_hold = 10min;
constexpr std::size_t longest_history = 1024;

std::uint32_t rounded(double value) { return static_cast<std::uint32_t>(std::lround(value)); }

/// Gain of goodput for the gain in flight, as a power: 1 is all of it, 0 is none. Nothing if they differ too
/// little.
std::optional<double> gain(const goodput_window& from, const goodput_window& to) {
  const double in_flight = std::log(to.in_flight() / from.in_flight());
  if (std::abs(in_flight) < 0.03) return std::nullopt;
  return std::log(to.goodput() / from.goodput()) / in_flight;
}

limit_bounds in_order(limit_bounds bounds) {
  bounds.floor = std::max(bounds.floor, std::uint32_t{1});
  bounds.ceiling = std::max(bounds.ceiling, bounds.floor);
  bounds.start = std::clamp(bounds.start, bounds.floor, bounds.ceiling);
  return bounds;
}

}  // namespace

std::string_view name(limit_reason why) noexcept {
  constexpr std::array<std::string_view, 9> names{
      "started", "grew", "found_knee", "probed", "probe_ended", "rejected", "collapsed", "slowed", "bounded"};
  return names[static_cast<std::size_t>(why)];
}

adaptive_limit::adaptive_limit(limit_bounds bounds)
    : bounds_(in_order(bounds)), limit_(bounds_.start), step_(first_step) {
  start_round();
}

void adaptive_limit::pass_time(instant now) {
  load_ += static_cast<double>(flying_.size()) * seconds(now - last_);
  last_ = now;
}

void adaptive_limit::started(std::uint64_t attempt, instant now) {
  if (sent_ == 0) {
    last_ = recent_since_ = now;
    note(limit_reason::started, now);
  }
  pass_time(now);
  const auto level = static_cast<std::uint32_t>(flying_.size()) + 1;
  flying_.emplace(attempt, flight{.number = sent_++, .sent = now, .load = load_, .level = level});
}

void adaptive_limit::ended(std::uint64_t attempt, const attempt_report& report, instant now) {
  const auto found = flying_.find(attempt);
  if (found == flying_.end()) return;
  pass_time(now);
  const flight one = found->second;
  const auto level = static_cast<std::uint32_t>(flying_.size());
  flying_.erase(found);
  switch (report.sign) {
    case load_sign::answered:
      return answered(one, report, level, now);
    case load_sign::rejected:
      return rejected(one, now);
    case load_sign::failed:
      return failed(one, level, now);
    case load_sign::none:
      return;
  }
}

void adaptive_limit::set_bounds(limit_bounds bounds, instant now) {
  bounds_ = in_order(bounds);
  const auto within = std::clamp(limit_, bounds_.floor, bounds_.ceiling);
  if (within == limit_) return;
  set_limit(within, limit_reason::bounded, now);
  settle();
}

std::optional<goodput_sample> adaptive_limit::sample(const flight& one, const attempt_report& report,
                                                     instant now) {
  if (!counts_tokens_) counts_tokens_ = report.tokens.has_value();
  if (*counts_tokens_ && !report.tokens) return std::nullopt;
  goodput_sample sample{.tokens = *counts_tokens_ ? static_cast<double>(*report.tokens) : 1.0,
                        .life = seconds(now - one.sent),
                        .load = load_ - one.load,
                        .first_token = std::nullopt};
  if (report.first_token) sample.first_token = seconds(*report.first_token);
  return sample;
}

void adaptive_limit::answered(const flight& one, const attempt_report& report, std::uint32_t level,
                              instant now) {
  failures_ = 0;
  if (one.number >= cut_) answered_since_cut_ = true;
  const bool draining = level > limit_;
  if (!draining && one.number >= cut_) grow(level, now);
  const auto seen = sample(one, report, now);
  if (!seen || (phase_ == phase::growing && one.number < cut_)) return;
  recent_.add(*seen);
  recent_tokens_ += seen->tokens;
  if (recent_.ends() >= std::clamp(limit_ / 8, least_recent, most_recent)) {
    look_at_recent(now);
    start_recent(now);
  }
  if (draining || (phase_ == phase::probing && limit_ < target_)) return;
  if (settling_ > 0) {
    --settling_;
    return;
  }
  window_.add(*seen);
  if (window_.ends() < round_size_) return;
  round_ended(now);
  start_round();
}

void adaptive_limit::grow(std::uint32_t level, instant now) {
  if (limit_ >= std::min(target_, highest(now)) || level < used * limit_) return;
  if (phase_ == phase::growing && (!pays_ || doubted_ || limit_ >= 2 * round_limit_)) return;
  set_limit(limit_ + 1, limit_reason::grew, now);
  if (phase_ == phase::probing && limit_ == target_) settle();
}

void adaptive_limit::look_at_recent(instant now) {
  const double by_clock = recent_tokens_ / seconds(now - recent_since_);
  const double least = break_in * std::min(1.0, recent_.in_flight() / good_.in_flight()) * good_.goodput();
  const bool broken = good_.ends() > 0 && recent_.goodput() < least && by_clock < least;
  pays_ = !broken && (before_.ends() == 0 || by_clock >= before_.goodput());
  if (pays_ && before_.ends() > 0 && recent_.in_flight() > 1.1 * before_.in_flight()) {
    pays_ = *gain(before_, recent_) >= worth_growing;
  }
  if (!broken) {
    broken_ = 0;
    return;
  }
  ++broken_;
  if (phase_ == phase::growing) {
    if (limit_ > good_.in_flight()) {
      leave_growth(0.85 * good_.in_flight(), limit_reason::slowed, now);
    } else {
      set_limit(std::max(limit_ / 2, bounds_.floor), limit_reason::slowed, now);
    }
    return;
  }
  if (phase_ == phase::probing && limit_ > before_probe_) return end_probe(false, recent_, now);
  if (settling_ > 0 && broken_ < 2) {
    broken_ = 0;
    return;
  }
  if (broken_ < 2) {
    set_limit(std::max(rounded(0.9 * limit_), bounds_.floor), limit_reason::slowed, now);
    hold_below(limit_, slowed_hold, slowed_longest, now);
    phase_ = phase::steady;
    target_ = limit_;
    renew_ = true;
    down_next_ = false;
    failed_probe_ = true;
    step_ = first_step;
    wait_ = 1;
    return settle();
  }
  if (recent_.goodput() > least * deep / break_in) return;
  const double needed = good_.in_flight() * recent_.goodput() / good_.goodput();
  const auto level = limit_;
  cut_ = sent_;
  answered_since_cut_ = false;
  grow_again(std::clamp(std::max(rounded(needed / 2), limit_ / 4), bounds_.floor, limit_),
             limit_reason::slowed, now);
  target_ = std::max(rounded(0.9 * level), limit_);
}

void adaptive_limit::leave_growth(double level, limit_reason why, instant now) {
  phase_ = phase::steady;
  renew_ = true;
  set_limit(std::clamp(rounded(std::ceil(level)), bounds_.floor, limit_), why, now);
  target_ = limit_;
  settle();
}

void adaptive_limit::round_ended(instant now) {
  if (const auto first = window_.first_token()) {
    best_first_token_ = std::min(best_first_token_.value_or(*first), *first);
  }
  if (phase_ == phase::growing) return growing_round(now);
  if (window_.in_flight() < 0.8 * limit_) return;
  phase_ == phase::steady ? steady_round(now) : probing_round(now);
}

void adaptive_limit::growing_round(instant now) {
  const auto gained = before_.ends() > 0 ? gain(before_, window_) : std::nullopt;
  if (gained && window_.in_flight() > 1.1 * before_.in_flight() && *gained < worth_growing) {
    if (!doubted_) {
      doubted_ = true;
      return;
    }
    const double more = window_.goodput() / before_.goodput();
    const double knee = before_.in_flight() * (more < 0.9 ? 1.0 : std::max(1.0, more) * headroom);
    down_next_ = more < 0.9;
    return leave_growth(knee, limit_reason::found_knee, now);
  }
  doubted_ = false;
  before_ = good_ = window_;
  if (limit_ >= std::min(target_, highest(now))) leave_growth(limit_, limit_reason::found_knee, now);
}

void adaptive_limit::steady_round(instant now) {
  before_.fade(renew_ ? 0.0 : 0.5);
  before_.add(window_);
  good_ = before_;
  renew_ = false;
  if (wait_ > 1) {
    --wait_;
    return;
  }
  before_probe_ = limit_;
  const auto first = before_.first_token();
  const bool slow = first && *first > slow_first_token * *best_first_token_;
  const auto by = std::max(rounded(limit_ * step_), std::uint32_t{1});
  if ((slow || down_next_) && limit_ > bounds_.floor) {
    target_ = std::max(limit_ - std::min(by, limit_ - 1), bounds_.floor);
    phase_ = phase::probing;
    set_limit(target_, limit_reason::probed, now);
    settle();
  } else if (limit_ < highest(now)) {
    target_ = std::min(limit_ + by, highest(now));
    phase_ = phase::probing;
  }
}

void adaptive_limit::probing_round(instant now) {
  const auto gained = gain(before_, window_);
  const bool up = target_ > before_probe_;
  end_probe(gained && (up ? *gained >= worth_keeping : *gained < (down_next_ ? loses : worth_keeping)),
            window_, now);
}

void adaptive_limit::end_probe(bool kept, const goodput_window& seen, instant now) {
  const bool up = target_ > before_probe_;
  phase_ = phase::steady;
  if (kept) {
    before_ = good_ = seen;
    if (up && !held_) {
      grow_again(limit_, limit_reason::probed, now);
      before_ = seen;
      return;
    }
    if (up) {
      if (!failed_probe_) step_ = std::min(2 * step_, most_step);
      interval_ = 1;
    }
    if (up && held_ && limit_ > 1.5 * *held_) held_.reset();
  } else {
    const auto gained = gain(before_, seen);
    down_next_ = up && gained && *gained < loses && down_failed_at_ != before_probe_;
    if (!up) down_failed_at_ = before_probe_;
    if (up && gained && *gained < loses) hold_below(before_probe_, slowed_hold, slowed_longest, now);
    step_ = std::max(step_ / 2, least_step);
    failed_probe_ = true;
    interval_ = std::min(2 * interval_, longest_interval);
    if (!up) best_first_token_ = *before_.first_token() / slow_first_token;
    set_limit(std::clamp(before_probe_, bounds_.floor, bounds_.ceiling), limit_reason::probe_ended, now);
  }
  target_ = limit_;
  wait_ = interval_;
  broken_ = 0;
  settle();
}

void adaptive_limit::rejected(const flight& one, instant now) {
  failures_ = 0;
  if (one.number < cut_) return;
  double limit = std::min(one.level, limit_) - 1;
  hold_below(std::max(rounded(limit), bounds_.floor), rejected_hold, longest_hold, now);
  if (!answered_since_cut_ && one.level < limit_) limit = std::min(limit, 0.7 * limit_);
  limit = std::max({limit, std::floor(limit_ / 2.0), static_cast<double>(bounds_.floor)});
  cut_ = sent_;
  answered_since_cut_ = false;
  grow_again(rounded(limit), limit_reason::rejected, now);
}

void adaptive_limit::failed(const flight& one, std::uint32_t level, instant now) {
  if (one.number < cut_) return;
  if (failures_ == 0) level_at_failure_ = level;
  start_round();
  if (++failures_ < std::max(least_failures, level_at_failure_ / 4)) return;
  failures_ = 0;
  cut_ = sent_;
  if (!answered_since_cut_) {
    // Still the same outage, or a server that cannot do this much: nothing is known about a higher level.
    set_limit(std::max(limit_ / 2, bounds_.floor), limit_reason::collapsed, now);
    return;
  }
  answered_since_cut_ = false;
  const auto below = std::min(level_at_failure_ - 1, static_cast<std::uint32_t>(0.97 * level_at_failure_));
  hold_below(std::max(below, bounds_.floor), collapsed_hold, longest_hold, now);
  good_ = {};
  grow_again(std::min(limit_, bounds_.start), limit_reason::collapsed, now);
}

void adaptive_limit::grow_again(std::uint32_t from, limit_reason why, instant now) {
  phase_ = phase::growing;
  target_ = std::numeric_limits<std::uint32_t>::max();
  before_ = {};
  interval_ = wait_ = 1;
  step_ = first_step;
  down_next_ = false;
  failed_probe_ = false;
  set_limit(from, why, now);
  settling_ = 0;
  pays_ = true;
  doubted_ = false;
  broken_ = 0;
  start_round();
  start_recent(now);
}

void adaptive_limit::start_round() {
  window_ = {};
  round_limit_ = limit_;
  round_size_ = std::max(limit_, phase_ == phase::growing ? least_round : least_measure);
}

void adaptive_limit::start_recent(instant now) {
  recent_ = {};
  recent_tokens_ = 0;
  recent_since_ = now;
}

std::uint32_t adaptive_limit::highest(instant now) const {
  if (!held_ || now >= held_until_) return bounds_.ceiling;
  return std::clamp(*held_, bounds_.floor, bounds_.ceiling);
}

void adaptive_limit::hold_below(std::uint32_t level, duration least, duration most, instant now) {
  const bool again = held_ && std::abs(static_cast<double>(level) - *held_) <= std::max(1.0, 0.1 * *held_);
  const bool softer = most == slowed_longest;
  if (softer && held_ && held_until_ > now + most) return;
  hold_ = std::min(again ? std::max(2 * hold_, least) : least, most);
  held_ = level;
  held_until_ = now + hold_;
}

void adaptive_limit::settle() {
  settling_ = limit_;
  start_round();
}

void adaptive_limit::set_limit(std::uint32_t limit, limit_reason why, instant now) {
  if (limit == limit_) return;
  limit_ = limit;
  note(why, now);
}

void adaptive_limit::note(limit_reason why, instant now) {
  if (why == limit_reason::grew && !history_.empty() && history_.back().why == why &&
      now - history_.back().at < 1s) {
    history_.back().limit = limit_;
    return;
  }
  if (history_.size() == longest_history) {
    for (std::size_t kept = 0; kept < longest_history / 2; ++kept) history_[kept] = history_[2 * kept];
    history_.resize(longest_history / 2);
  }
  history_.push_back({.at = now, .limit = limit_, .why = why});
}

}  // namespace evalcore::pool
