#include "pool/machine.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "pool/backoff.hpp"
#include "pool/longest_wait.hpp"

namespace evalcore::pool {
namespace {

load_sign sign_of(const error& why) {
  switch (why.code) {
    case errc::rate_limited:
    case errc::overloaded:
      return load_sign::rejected;
    case errc::transport:
    case errc::timeout:
    case errc::truncated:
    case errc::backend_fault:
      return load_sign::failed;
    default:
      return load_sign::none;
  }
}

attempt_report report_of(const result<chat::reply>& outcome, duration took) {
  if (!outcome) return {sign_of(outcome.error()), took, std::nullopt, std::nullopt};
  return {load_sign::answered, took, outcome->timing.first_token, outcome->usage.completion_tokens};
}

std::optional<std::uint64_t> used_tokens(const chat::usage& usage) {
  if (!usage.prompt_tokens || !usage.completion_tokens) return std::nullopt;
  return *usage.prompt_tokens + *usage.completion_tokens;
}

/// Spreads (affinity, endpoint) over all 64-bit numbers (the finalizer of splitmix64).
std::uint64_t weight(std::uint64_t affinity, std::uint32_t endpoint) {
  std::uint64_t x = affinity + 0x9E3779B97F4A7C15ULL * (endpoint + 1ULL);
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

}  // namespace

machine::machine(options how, std::uint32_t endpoints)
    : how_(std::move(how)),
      gates_(std::max(endpoints, std::uint32_t{1}), endpoint_gate(how_)),
      suspects_out_(gates_.size(), 0),
      random_(how_.seed) {}

double machine::unit() {
  constexpr int fraction_bits = 53;
  return std::ldexp(static_cast<double>(random_() >> (64 - fraction_bits)), -fraction_bits);
}

// What the source said.

void machine::pulled_work(item_id id, std::uint64_t affinity, std::uint64_t prompt_tokens, instant now) {
  asking_ = false;
  ++pulled_;
  auto& one = items_[id];
  one.affinity = affinity;
  one.prompt_tokens = prompt_tokens;
  wait(id, one, std::max(now, due_at(pulled_ - 1)));
  if (cancelling_) cancel_all();
}

void machine::pulled_refused() {
  asking_ = false;
  ++errors_;
}

void machine::pulled_share() {
  asking_ = false;
  if (cancelling_) return;
  sharing_ = true;
  due_.emplace_back(start_share{});
}

void machine::source_holds(std::optional<instant> until) {
  asking_ = false;
  holding_ = true;
  holds_until_ = until;
}

void machine::source_waits() {
  source_holds();
  later_ = true;
}

void machine::source_exhausted() {
  asking_ = false;
  draining_ = true;
}

// What the backend said.

void machine::first_token(item_id id) {
  const auto found = items_.find(id);
  if (found == items_.end() || found->second.not_before) return;
  holding_ = false;
  gates_[found->second.endpoint].answering(found->second.out);
}

void machine::reported(item_id id, const backend::rate_report& limits, instant now) {
  const auto found = items_.find(id);
  if (found != items_.end() && !found->second.not_before) {
    gates_[found->second.endpoint].reported(limits, now);
  }
}

void machine::share_ended() {
  sharing_ = false;
  holding_ = false;
}

bool machine::retry_pays(const item& one, const error& why, bool probe, instant now) const {
  if (!why.should_retry.value_or(retryable(why.code)) || one.cancelling || stopped_) return false;
  if (why.server_died && one.suspect) return false;
  // Another endpoint does not make this one's client wait.
  const bool elsewhere =
      std::ranges::any_of(gates_, [&](const endpoint_gate& gate) { return !gate.out_of_use(now); });
  if (!elsewhere) return false;
  return probe || one.failures <= how_.retry.retries;
}

fate machine::attempt_ended(item_id id, result<chat::reply>& outcome, instant now) {
  const auto found = items_.find(id);
  if (found == items_.end() || found->second.not_before) return fate::over;
  auto& one = found->second;
  auto& gate = gates_[one.endpoint];
  const auto report = report_of(outcome, now - one.sent_at);
  std::erase_if(due_, [&](const command& due) {
    const auto* cancel = std::get_if<cancel_attempt>(&due);
    return cancel != nullptr && cancel->id == id;
  });
  if (one.suspect) --suspects_out_[one.endpoint];

  if (outcome) {
    gate.answered(one.out, report, used_tokens(outcome->usage), now);
    if (one.attempts > 1) budget_->retry_answered(now);
    forget(found);
    return fate::over;
  }

  auto& why = outcome.error();
  const bool was_closed = gate.breaker_closed();
  gate.failed(one.out, report, why, unit(), now);
  // What found out that the endpoint is still away says nothing about the item.
  const bool probe = one.out.probe && !was_closed && !gate.breaker_closed();
  if (!probe) ++one.failures;
  const bool again = retry_pays(one, why, probe, now);
  if (again) {
    if (why.server_died) one.suspect = true;
    one.last = last_failure_ = why;
    wait(id, one, now + (probe ? duration::zero() : backoff(how_.retry, one.failures, unit())));
    return fate::waits;
  }
  if (!end_for_too_long_a_wait(why, how_.retry)) {
    if (why.server_died && one.suspect) {
      why.message += "; it died twice while this item was out, which is not sent again";
    } else if (one.attempts > 1) {
      why.message += " (" + std::to_string(one.attempts) + " attempts)";
    }
  }
  if (why.code != errc::cancelled) ++errors_;
  last_failure_ = why;
  forget(found);
  if (how_.max_errors && errors_ > *how_.max_errors) {
    stop(fail(errc::cancelled, stage::none,
              "more than " + std::to_string(*how_.max_errors) +
                  " items failed; the last: " + last_failure_.message));
  }
  return fate::over;
}

// What the host said.

void machine::drain() { draining_ = true; }

void machine::cancel_all() {
  draining_ = true;
  stopped_ = true;
  cancelling_ = true;
  sharing_ = false;
  std::erase_if(due_, [](const command& one) { return std::holds_alternative<start_share>(one); });
  std::vector<item_id> out;
  for (auto& [id, one] : items_) {
    if (!one.not_before && !one.cancelling) out.push_back(id);
    one.cancelling = true;
  }
  std::ranges::sort(out);  // The order of a hash table is nobody's.
  for (const item_id id : out) due_.emplace_back(cancel_attempt{.id = id, .why = errc::cancelled});
}

void machine::cancel(item_id id) {
  const auto found = items_.find(id);
  if (found == items_.end() || found->second.cancelling) return;
  if (!found->second.not_before) {
    found->second.cancelling = true;
    due_.emplace_back(cancel_attempt{.id = id, .why = errc::cancelled});
    return;
  }
  const bool sent = found->second.attempts > 0;
  forget(found);
  due_.emplace_back(end_item{
      .id = id,
      .why = fail(errc::cancelled, stage::none,
                  std::string("the request was cancelled before it was sent") + (sent ? " again" : ""))});
}

void machine::look_again() { holding_ = false; }

void machine::set_max_in_flight(std::uint32_t bound, instant now) {
  for (auto& gate : gates_) gate.set_limit(bound, now);
}

void machine::stop(std::optional<error> why) {
  if (stopped_) return;
  draining_ = true;
  stopped_ = true;
  failure_ = std::move(why);
}

// What to do.

std::size_t machine::in_flight() const noexcept { return items_.size() - waiting_.size(); }

std::size_t machine::most_waiting() const noexcept {
  // Many short requests fail while one waits for its delay; what waits costs memory alone.
  constexpr std::size_t least = 256;
  std::size_t room = 0;
  for (const auto& gate : gates_) room += gate.limit();
  return std::max(2 * room, least);
}

bool machine::any_open(instant now) const {
  return std::ranges::any_of(gates_, [&](const endpoint_gate& gate) { return gate.open(now); });
}

bool machine::paused(instant now) const {
  return std::ranges::all_of(gates_, [&](const endpoint_gate& gate) { return gate.paused(now); });
}

instant machine::due_at(std::uint64_t nth) const {
  if (how_.dispatch_rate <= 0 || !started_) return instant::min();
  const double after = static_cast<double>(nth) / how_.dispatch_rate;
  return *started_ + std::chrono::duration_cast<duration>(std::chrono::duration<double>(after));
}

instant machine::asks_at() const { return pulled_ == 0 ? instant::min() : due_at(pulled_ - 1); }

bool machine::wants_more() const {
  return !draining_ && !sharing_ && !holding_ && !asking_ && waiting_.size() < most_waiting();
}

std::optional<std::uint32_t> machine::choose(const item& one, instant now) const {
  std::size_t open = 0;
  std::size_t load = 1;  // This one.
  for (const auto& gate : gates_) {
    load += gate.in_flight();
    open += gate.open(now) ? 1U : 0U;
  }
  if (open == 0) return std::nullopt;
  const auto share =
      static_cast<std::size_t>(std::ceil(1.25 * static_cast<double>(load) / static_cast<double>(open)));
  std::optional<std::uint32_t> nearest;
  std::optional<std::uint32_t> idlest;
  for (std::uint32_t i = 0; i < gates_.size(); ++i) {
    if (!gates_[i].open(now) || (one.suspect && suspects_out_[i] > 0)) continue;
    if (!idlest || gates_[i].in_flight() < gates_[*idlest].in_flight()) idlest = i;
    if (one.affinity == 0 || gates_[i].in_flight() >= share) continue;
    if (!nearest || weight(one.affinity, i) > weight(one.affinity, *nearest)) nearest = i;
  }
  return nearest ? nearest : idlest;
}

void machine::wait(item_id id, item& one, instant until) {
  one.not_before = until;
  const std::pair place(until, id);
  waiting_.insert(std::ranges::lower_bound(waiting_, place), place);
}

void machine::stop_waiting(item_id id, item& one) {
  waiting_.erase(std::ranges::lower_bound(waiting_, std::pair(*one.not_before, id)));
  one.not_before.reset();
}

void machine::forget(items::iterator which) {
  if (which->second.not_before) stop_waiting(which->first, which->second);
  items_.erase(which);
  holding_ = false;
}

start_attempt machine::start(item_id id, item& one, std::uint32_t endpoint, instant now) {
  stop_waiting(id, one);
  one.endpoint = endpoint;
  one.sent_at = now;
  if (one.attempts++ == 0) {
    budget_->sent_first(now);
    if (how_.total_deadline > duration::zero()) deadlines_.emplace_back(now + how_.total_deadline, id);
  } else {
    budget_->sent_retry(now);
  }
  if (one.suspect) ++suspects_out_[endpoint];
  one.out = gates_[endpoint].sent(++attempts_, one.prompt_tokens, now);
  return {.id = id, .endpoint = endpoint, .attempt = one.attempts};
}

std::optional<command> machine::send_waiting(instant now) {
  if (waiting_.empty() || !any_open(now)) return std::nullopt;
  for (const auto& [not_before, id] : waiting_) {
    if (not_before > now) break;
    auto& one = items_.at(id);
    if (one.attempts > 0 && !budget_->affords(now)) continue;
    if (const auto endpoint = choose(one, now)) return start(id, one, *endpoint, now);
  }
  return std::nullopt;
}

std::optional<command> machine::expire(instant now) {
  while (!deadlines_.empty()) {
    const auto found = items_.find(deadlines_.front().second);
    const bool over = found == items_.end() || found->second.cancelling;
    if (!over && deadlines_.front().first > now) break;
    deadlines_.pop_front();
    if (over) continue;
    if (!found->second.not_before) {
      found->second.cancelling = true;
      return cancel_attempt{.id = found->first, .why = errc::timeout};
    }
    auto why = found->second.last;
    why.code = errc::timeout;
    why.message = "no whole answer within the total deadline of " + in_seconds(how_.total_deadline) +
                  (why.message.empty() ? "" : "; the last attempt: " + why.message);
    const item_id id = found->first;
    ++errors_;
    forget(found);
    return end_item{.id = id, .why = std::move(why)};
  }
  return std::nullopt;
}

std::optional<error> machine::out_of_use(instant now) const {
  if (!std::ranges::all_of(gates_, [&](const endpoint_gate& gate) { return gate.out_of_use(now); })) {
    return std::nullopt;
  }
  auto why = last_failure_;
  why.message = "no endpoint can be used any more; the last failure: " + why.message;
  return why;
}

std::optional<command> machine::step(instant now) {
  if (!started_) {
    started_ = now;
    budget_.emplace(how_.retry, now);
  }
  if (!due_.empty()) {
    command next = std::move(due_.front());
    due_.pop_front();
    return next;
  }
  if (auto expired = expire(now)) return expired;
  if (!stopped_) {
    if (how_.time_limit > duration::zero() && now - *started_ >= how_.time_limit) {
      stop(fail(errc::cancelled, stage::none,
                "the time limit of " + in_seconds(how_.time_limit) + " is over"));
    } else if (auto why = out_of_use(now)) {
      stop(std::move(why));
    }
  }
  if (stopped_ && !waiting_.empty()) {
    const auto found = items_.find(waiting_.begin()->second);
    auto why = found->second.last;
    if (cancelling_ || found->second.attempts == 0) {
      why = fail(errc::cancelled, stage::none, "the request was cancelled before it was sent");
    }
    const item_id id = found->first;
    if (why.code != errc::cancelled) ++errors_;
    forget(found);
    return end_item{.id = id, .why = std::move(why)};
  }
  if (auto sent = send_waiting(now)) return sent;
  if (holds_until_ && *holds_until_ <= now) {
    holding_ = false;
    holds_until_.reset();
  }
  if (wants_more() && any_open(now) && asks_at() <= now) {
    asking_ = true;
    later_ = false;
    return ask_source{};
  }
  if (asking_ || reported_ || !items_.empty() || sharing_) return std::nullopt;
  if (!draining_) {
    if (!holding_ || later_) return std::nullopt;  // It waits for an endpoint, its turn or the host.
    stop(fail(errc::internal, stage::none, "the source of requests waits although nothing is in flight"));
  }
  reported_ = true;
  return report_drained{failure_};
}

std::optional<instant> machine::next_wake(instant now) {
  std::optional<instant> next;
  const auto consider = [&](instant at) {
    if (at > now && (!next || at < *next)) next = at;
  };
  if (reported_ || !started_) return std::nullopt;
  if (!deadlines_.empty()) consider(deadlines_.front().first);
  if (stopped_) return next;
  if (how_.time_limit > duration::zero()) consider(*started_ + how_.time_limit);
  if (holding_ && holds_until_ && !draining_) consider(*holds_until_);
  const bool due = !waiting_.empty() && waiting_.begin()->first <= now;
  const bool pulls = wants_more();
  for (const auto& gate : gates_) {
    if (const auto at = gate.given_up_at()) consider(*at);
    // A source that holds hears of the end of a pause all the same.
    if (!due && !pulls && !holding_ && waiting_.empty()) continue;
    if (const auto at = gate.opens_at()) consider(*at);
  }
  const auto later = std::ranges::upper_bound(waiting_, std::pair(now, ~item_id{0}));
  if (later != waiting_.end()) consider(later->first);
  if (due) consider(budget_->affords_at(now));
  if (pulls) consider(asks_at());
  return next;
}

}  // namespace evalcore::pool
