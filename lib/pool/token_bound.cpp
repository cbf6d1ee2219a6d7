#include <evalcore/pool/token_bound.hpp>

#include <algorithm>
#include <cmath>

namespace evalcore::pool {

namespace {

using std::chrono_literals::operator""s;

constexpr double well = 0.9;  // Of the goodput that the number in flight should bring.

// Ends it takes to tell a break in from noise, by four standard deviations: the weighted mean over n ends of
// unequal lengths varies by about 1.35 / 2n of one end's variance, and 1.35 / 2 * 4² = 10.8.
constexpr double ends_for_noise = 10.8;
constexpr double least_ends = 4;
constexpr double most_ends = 16;
constexpr double too_many_ends = 64;
constexpr double first_verdict = 0.6;  // Part of the ends it takes.
constexpr double noise_memory = 32;    // Ends.
constexpr double outlier = 4;          // Times the noise: one break in is not noise.
constexpr double least_memory = 8;
constexpr double worse_counts =
    0.25;  // What is worse than the best, so that a slow decline is not taken for it.

constexpr double length_memory = 16;

constexpr double below_edge = 0.91;
constexpr double requests_below_edge = 1.5;  // At least: what is in flight is not known better than that.
constexpr double near_edge = 1.3;  // Times the level at which all was well: the edge is about there.
constexpr double below_well = 0.85;
constexpr double again = 0.75;   // Broken in again, without being well in between.
constexpr double over_need = 2;  // Times what the goodput that is left would need, were all well.
constexpr double lowest = 0.1;
constexpr std::uint32_t most_falls = 5;

constexpr double search_rate = 0.15;  // Of what ends, so of the bound in one life of what is in flight.
constexpr double probe_rate = 0.05;
constexpr duration edge_hold = 60s;
constexpr duration longest_edge_hold = 240s;
constexpr double same_edge = 0.15;

}  // namespace

double token_bound::tokens_of(std::uint64_t prompt_tokens) const noexcept {
  return std::max(1.0, static_cast<double>(prompt_tokens) + answer_tokens_);
}

void token_bound::gone(double request_tokens, instant now) {
  in_flight_ -= request_tokens;
  if (!draining_ || in_flight_ >= *bound_) return;
  draining_ = false;
  settled_ = now;
  recent_ = {};
}

bool token_bound::answered(const answer& one, instant now) {
  answer_tokens_ += (one.tokens - answer_tokens_) / length_memory;
  request_tokens_ += (one.request_tokens - request_tokens_) / (request_tokens_ == 0 ? 1 : length_memory);
  if (one.began < settled_ || one.tokens <= 0 || one.seconds <= 0 || one.in_flight <= 0) return false;

  const double ends = ends_to_tell(one.in_flight * one.tokens / one.seconds, one.in_flight, 1 - one.broken);
  const goodput_sample sample{.tokens = one.tokens,
                              .life = one.seconds,
                              .load = one.in_flight * one.seconds,
                              .first_token = std::nullopt};
  recent_.fade(1 - 1 / ends);
  recent_.add(sample);
  if (ends > too_many_ends || recent_.ends() < first_verdict * ends) return false;
  if (well_.ends() == 0) well_ = recent_;

  const double is = part();
  if (draining_) return lower_on(is);
  if (is < one.broken) return fell(now);
  learn(sample, is, std::max({one.in_flight, least_memory, 2 * ends}));
  if (is >= well) {
    falls_ = 0;
    raise(one.request_tokens, now);
  }
  return false;
}

double token_bound::ends_to_tell(double speed, double in_flight, double fall) {
  const double now = std::log(speed);
  const double step = last_speed_ ? now - *last_speed_ : 0;
  last_speed_ = now;
  noise_ += (std::min(step * step / 2, outlier * noise_ + 1e-4) - noise_) / noise_memory;
  return std::max(std::clamp(in_flight / 8, least_ends, most_ends), ends_for_noise * noise_ / (fall * fall));
}

double token_bound::part() const noexcept {
  return recent_.goodput() / (well_.goodput() * std::min(1.0, recent_.in_flight() / well_.in_flight()));
}

void token_bound::learn(const goodput_sample& one, double part, double memory) {
  const double weight = part < 1 ? worse_counts : 1;
  well_.fade(1 - weight / memory);
  well_.add({.tokens = weight * one.tokens,
             .life = weight * one.life,
             .load = weight * one.load,
             .first_token = std::nullopt});
}

bool token_bound::lower_on(double part) {
  const double lower = level_ * std::max(over_need * part, lowest);
  if (lower >= *bound_) return false;
  bound_ = lower;
  edge_.reset();
  return true;
}

bool token_bound::fell(instant now) {
  // Few may be in flight just now for another reason, a pause that the server asked for.
  level_ = std::max(in_flight_, recent_.in_flight() * request_tokens_);
  if (++falls_ > most_falls || level_ <= request_tokens_) {
    // Less does not help: the server is slower than it was.
    falls_ = 0;
    well_ = recent_;
    edge_.reset();
    return false;
  }
  draining_ = true;
  const double well_level = well_.in_flight() * request_tokens_;
  if (falls_ > 1) {
    bound_ = again * level_;
  } else if (!bound_ || level_ > near_edge * well_level) {
    bound_ = std::min(below_well * well_level, below_edge * level_);
    edge_.reset();
  } else {
    found_edge(std::max(std::min(below_edge * level_, level_ - requests_below_edge * request_tokens_),
                        request_tokens_),
               now);
  }
  return true;
}

void token_bound::found_edge(double level, instant now) {
  const bool known = edge_ && std::abs(level - *edge_) < same_edge * *edge_;
  edge_for_ = known ? std::min(2 * edge_for_, longest_edge_hold) : edge_hold;
  edge_until_ = now + edge_for_;
  bound_ = edge_ = level;
}

void token_bound::raise(double request_tokens, instant now) {
  if (!bound_ || in_flight_ + request_tokens_ < *bound_) return;
  if (edge_ && now < edge_until_) return;
  *bound_ += (edge_ ? probe_rate : search_rate) * request_tokens;
}

}  // namespace evalcore::pool
