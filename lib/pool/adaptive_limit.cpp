#include <evalcore/pool/adaptive_limit.hpp>

#include <algorithm>
#include <cmath>

namespace evalcore::pool {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;

constexpr double used = 0.9;  // Part of the limit in flight at which it is the limit that bounds.
constexpr std::uint32_t least_failures = 5;
constexpr double below_collapse = 0.97;  // Of what was in flight: on the way, one more or less is not known.
constexpr double below_repeated = 0.7;   // Rejected again without an answer in between.
constexpr duration rejected_hold = 30s;
constexpr duration collapsed_hold = 10min;
constexpr duration longest_hold = 10min;

/// The part of the goodput expected below which such answers tell that it broke in. Without a first token the
/// wait for it counts, too, and just after a start it is the short ones that end; without tokens the lengths
/// of the answers are all noise.
double broken_by(const attempt_report& report) {
  if (!report.tokens) return 0.55;
  return report.first_token ? 0.8 : 0.6;
}

limit_bounds in_order(limit_bounds bounds) {
  bounds.floor = std::max(bounds.floor, std::uint32_t{1});
  bounds.ceiling = std::max(bounds.ceiling, bounds.floor);
  bounds.start = std::clamp(bounds.start, bounds.floor, bounds.ceiling);
  return bounds;
}

}  // namespace

adaptive_limit::adaptive_limit(limit_bounds bounds) : bounds_(in_order(bounds)), limit_(bounds_.start) {
  start_growing();
}

void adaptive_limit::pass_time(instant now) {
  load_ += static_cast<double>(flying_.size()) * seconds(now - last_);
  last_ = now;
}

void adaptive_limit::started(std::uint64_t attempt, std::uint64_t prompt_tokens, instant now) {
  if (sent_ == 0) {
    last_ = now;
    history_.note({now, limit_, limit_reason::started});
  }
  pass_time(now);
  const auto level = static_cast<std::uint32_t>(flying_.size()) + 1;
  const double tokens = tokens_.tokens_of(prompt_tokens);
  tokens_.sent(tokens);
  flying_.emplace(attempt, flight{.number = sent_++, .load = load_, .level = level, .tokens = tokens});
}

void adaptive_limit::ended(std::uint64_t attempt, const attempt_report& report, instant now) {
  const auto found = flying_.find(attempt);
  if (found == flying_.end()) return;
  pass_time(now);
  const flight one = found->second;
  const auto level = static_cast<std::uint32_t>(flying_.size());
  flying_.erase(found);
  tokens_.gone(one.tokens, now);
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
  if (within != limit_) start_steady(within, limit_reason::bounded, now);
}

std::optional<goodput_sample> adaptive_limit::sample(const flight& one, const attempt_report& report) {
  if (!counts_tokens_) counts_tokens_ = report.tokens.has_value();
  if (*counts_tokens_ && !report.tokens) return std::nullopt;
  goodput_sample sample{.tokens = *counts_tokens_ ? static_cast<double>(*report.tokens) : 1.0,
                        .life = seconds(report.total),
                        .load = load_ - one.load,
                        .first_token = std::nullopt};
  if (report.first_token) sample.first_token = seconds(*report.first_token);
  return sample;
}

void adaptive_limit::answered(const flight& one, const attempt_report& report, std::uint32_t level,
                              instant now) {
  const bool since_cut = one.number >= cut_;
  const bool draining = level > limit_;
  failures_ = 0;
  if (since_cut) answered_since_cut_ = true;
  if (since_cut && !draining) grow(level, now);
  const auto seen = sample(one, report);
  if (seen) bound_tokens(one, report, *seen, now);
  if (seen && (since_cut || phase_ != phase::growing)) count(*seen, draining, now);
}

void adaptive_limit::bound_tokens(const flight& one, const attempt_report& report, const goodput_sample& seen,
                                  instant now) {
  const auto took = report.total - report.first_token.value_or(duration::zero());
  const bool lowered = tokens_.answered({.request_tokens = one.tokens,
                                         .tokens = seen.tokens,
                                         .seconds = seconds(took),
                                         .in_flight = seen.load / seen.life,
                                         .began = now - took,
                                         .broken = broken_by(report)},
                                        now);
  if (!lowered) return;
  history_.note({now, limit_, limit_reason::tokens, tokens_.bound()});
  // The number in flight is not what bounds any more.
  if (phase_ == phase::growing) start_steady(limit_, limit_reason::found_knee, now);
}

void adaptive_limit::grow(std::uint32_t level, instant now) {
  if (limit_ >= std::min(target_, highest(now)) || level < used * limit_) return;
  // Towards a level that is known it goes on; else what twice as many bring is to be seen first.
  const bool far = !held_ && limit_ >= 2 * round_limit_;
  if (phase_ == phase::growing && (!pays_ || doubted_ || far)) return;
  set_limit(limit_ + 1, limit_reason::grew, now);
  if (phase_ == phase::probing && limit_ == target_) settle();
}

void adaptive_limit::rejected(const flight& one, instant now) {
  failures_ = 0;
  if (one.number < cut_) return;
  const auto taken = std::max(std::min(one.level, limit_) - 1, bounds_.floor);
  hold(taken, rejected_hold, now);
  const bool repeated = !answered_since_cut_ && one.level < limit_;
  const auto lower = static_cast<std::uint32_t>(below_repeated * limit_);
  const auto limit = std::max(repeated ? std::min(taken, lower) : taken, limit_ / 2);
  cut(std::max(limit, bounds_.floor), limit_reason::rejected, now);
}

void adaptive_limit::failed(const flight& one, std::uint32_t level, instant now) {
  if (one.number < cut_) return;
  if (failures_ == 0) level_at_failure_ = level;
  if (++failures_ < std::max(least_failures, level_at_failure_ / 4)) return;
  failures_ = 0;
  if (!answered_since_cut_) {
    // Still the same outage, or a server that cannot do this much: nothing is known about a higher level.
    return cut(std::max(limit_ / 2, bounds_.floor), limit_reason::collapsed, now);
  }
  const auto below = static_cast<std::uint32_t>(below_collapse * level_at_failure_);
  hold(std::max(std::min(below, level_at_failure_ - 1), bounds_.floor), collapsed_hold, now);
  cut(std::max(std::min(limit_ / 2, bounds_.start), bounds_.floor), limit_reason::collapsed, now);
}

void adaptive_limit::cut(std::uint32_t limit, limit_reason why, instant now) {
  cut_ = sent_;
  answered_since_cut_ = false;
  set_limit(limit, why, now);
  start_growing();
  recent_ = {};
}

void adaptive_limit::hold(std::uint32_t level, duration least, instant now) {
  const bool again = held_ && std::abs(static_cast<double>(level) - *held_) <= std::max(1.0, 0.1 * *held_);
  held_for_ = std::min(again ? std::max(2 * held_for_, least) : least, longest_hold);
  held_until_ = now + held_for_;
  held_ = level;
}

std::uint32_t adaptive_limit::highest(instant now) const {
  if (!held_ || now >= held_until_) return bounds_.ceiling;
  return std::clamp(*held_, bounds_.floor, bounds_.ceiling);
}

void adaptive_limit::set_limit(std::uint32_t limit, limit_reason why, instant now) {
  if (limit == limit_) return;
  limit_ = limit;
  history_.note({now, limit_, why});
}

}  // namespace evalcore::pool
