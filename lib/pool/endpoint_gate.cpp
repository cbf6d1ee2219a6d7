#include "pool/endpoint_gate.hpp"

#include <algorithm>

namespace evalcore::pool {
namespace {

using namespace std::chrono_literals;

constexpr duration longest_jitter = 1s;

/// Says something about the endpoint, rather than about this one request.
bool is_endpoint_failure(errc code) {
  return code == errc::transport || code == errc::timeout || code == errc::overloaded ||
         code == errc::backend_fault || code == errc::truncated;
}

bool is_refused_account(errc code) { return code == errc::auth || code == errc::quota; }

limit_bounds bounds_from(std::uint32_t first, std::uint32_t most) {
  limit_bounds bounds;
  bounds.ceiling = std::max(most, std::uint32_t{1});
  bounds.start = std::clamp(first, bounds.floor, bounds.ceiling);
  return bounds;
}

}  // namespace

endpoint_gate::endpoint_gate(const options& how)
    : how_(how),
      breaker_(how.breaker),
      pacer_(how.rate),
      limit_(std::max(how.max_in_flight, std::uint32_t{1})) {
  if (how.adaptive) adaptive_.emplace(bounds_from(how.first_tried, how.highest_tried));
}

std::uint32_t endpoint_gate::limit() const noexcept { return adaptive_ ? adaptive_->limit() : limit_; }

void endpoint_gate::set_limit(std::uint32_t most, instant now) {
  limit_ = std::max(most, std::uint32_t{1});
  if (adaptive_) adaptive_->set_bounds(bounds_from(how_.first_tried, most), now);
}

std::span<const limit_change> endpoint_gate::history() const {
  return adaptive_ ? adaptive_->history() : std::span<const limit_change>();
}

bool endpoint_gate::has_room() const noexcept {
  return adaptive_ ? adaptive_->has_room() : in_flight_ < limit_;
}

bool endpoint_gate::paused(instant now) const {
  return !breaker_.may_send(now) || (paused_until_ && now < *paused_until_) || now < pacer_.free_at() ||
         out_of_use(now);
}

bool endpoint_gate::open(instant now) const { return has_room() && !paused(now); }

std::optional<instant> endpoint_gate::opens_at() const {
  if (!has_room()) return std::nullopt;
  auto at = pacer_.free_at();
  if (paused_until_) at = std::max(at, *paused_until_);
  if (!breaker_.closed()) {
    const auto probe = breaker_.probe_at();
    if (!probe) return std::nullopt;
    at = std::max(at, *probe);
  }
  return at;
}

bool endpoint_gate::out_of_use(instant now) const {
  return refusals_in_a_row_ >= how_.breaker.failures || breaker_.given_up(now) ||
         (paused_until_ && *paused_until_ - now > how_.retry.max_wait + longest_jitter);
}

booking endpoint_gate::sent(std::uint64_t attempt, std::uint64_t prompt_tokens, instant now) {
  ++in_flight_;
  newest_attempt_ = attempt;
  if (adaptive_) adaptive_->started(attempt, prompt_tokens, now);
  return {.attempt = attempt, .probe = breaker_.sent(), .tokens = pacer_.sent(prompt_tokens, now)};
}

void endpoint_gate::answering(booking& one) {
  if (breaker_.closed()) return;
  breaker_.answering();
  one.probe = false;  // It has found out; what becomes of it is as with any other.
}

void endpoint_gate::answered(const booking& one, const attempt_report& report,
                             std::optional<std::uint64_t> used, instant now) {
  --in_flight_;
  pacer_.ended(one.tokens, used, report.tokens);
  breaker_.answered();
  refusals_in_a_row_ = 0;
  if (adaptive_) adaptive_->ended(one.attempt, report, now);
}

void endpoint_gate::failed(const booking& one, const attempt_report& report, const error& why, double jitter,
                           instant now) {
  --in_flight_;
  auto load = report;
  // A minute's quota that is used up says nothing about how many at once.
  if (why.code == errc::rate_limited && pacer_.quota_spent(now)) load.sign = load_sign::none;
  if (adaptive_) adaptive_->ended(one.attempt, load, now);
  if (why.code == errc::cancelled || why.code == errc::closed) return breaker_.gone(one.probe);
  if (is_endpoint_failure(why.code)) {
    breaker_.failed(one.probe, now);
  } else {
    breaker_.answered();
  }
  refusals_in_a_row_ = is_refused_account(why.code) ? refusals_in_a_row_ + 1 : 0;
  if (why.server_died && one.attempt > halved_at_) {
    halved_at_ = newest_attempt_;
    limit_ = std::max(limit_ / 2, std::uint32_t{1});
  }
  if (why.retry_after && (retryable(why.code) || why.code == errc::quota)) {
    // Later than asked, never earlier, so that not all who wait come at once.
    const auto asked = std::chrono::duration_cast<duration>(*why.retry_after);
    const auto spread = std::min(asked / 10, longest_jitter);
    pause_until(now + asked + std::chrono::duration_cast<duration>(spread * jitter));
  }
}

void endpoint_gate::pause_until(instant until) {
  paused_until_ = paused_until_ ? std::max(*paused_until_, until) : until;
}

}  // namespace evalcore::pool
