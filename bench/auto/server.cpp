#include "server.hpp"

#include <algorithm>
#include <cmath>

namespace evalcore::bench {

namespace {

constexpr double tokens_a_second = 50;
constexpr double prompt_cost = 0.05;  // Work for a prompt token, in output tokens.
constexpr double prompt_median = 400;
constexpr double output_median = 48;
constexpr double spread = 0.55;  // Sigma of the logarithms of both lengths.
constexpr double down_seconds = 5;
constexpr double full_kv_speed = 0.3;
constexpr double walk_seconds = 5;
constexpr double walk_step = 0.03;
constexpr double most_tenants = 0.5;

/// The k-th moment of a lognormal length.
double moment(double median, int k) { return std::pow(median, k) * std::exp(k * k * spread * spread / 2); }

/// KV tokens in which as many requests as there are slots fit nearly always: the mean of what they hold, over
/// their lives, and two standard deviations. A request holds its prompt, and what it has generated so far.
double kv_pool_tokens(std::uint32_t slots) {
  const auto prompt = [](int k) { return moment(prompt_median, k); };
  const auto output = [](int k) { return moment(output_median, k); };
  const double life = prompt_cost * prompt(1) + output(1);
  const double mean = (prompt_cost * prompt(2) + prompt(1) * output(1) + output(2) / 2) / life;
  const double square =
      (prompt_cost * prompt(3) + prompt(2) * output(1) + prompt(1) * output(2) + output(3) / 3) / life;
  return slots * mean + 2 * std::sqrt(slots * (square - mean * mean));
}

}  // namespace

std::vector<request_size> mixed_requests(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> prompt(std::log(prompt_median), spread);
  std::lognormal_distribution<double> output(std::log(output_median), spread);
  std::vector<request_size> sizes(count);
  for (auto& one : sizes) one = {std::ceil(prompt(random)), std::ceil(output(random))};
  return sizes;
}

server::server(const server_facts& facts, std::uint64_t seed)
    : facts_(facts),
      random_(seed),
      kv_pool_(kv_pool_tokens(facts.slots)),
      next_walk_(facts.kind == overload::has_tenants ? 0 : std::numeric_limits<double>::infinity()) {}

std::uint32_t server::room() const {
  const double slots = facts_.slots;
  if (facts_.kind != overload::has_tenants) return facts_.slots;
  return static_cast<std::uint32_t>(std::max(1.0, std::round(slots * (1 - tenants_))));
}

bool server::kv_is_full() const { return facts_.kind == overload::fills_kv && kv_tokens_ > kv_pool_; }

void server::set_speed() {
  const double share = running_ > room() ? static_cast<double>(room()) / running_ : 1.0;
  speed_ = running_ == 0 ? 0 : tokens_a_second * share * (kv_is_full() ? full_kv_speed : 1.0);
}

void server::run(std::uint32_t request, const request_size& size) {
  if (kv_at_end_.size() <= request) kv_at_end_.resize(request + 1);
  kv_at_end_[request] = size.prompt + size.output;
  kv_tokens_ += size.prompt;
  ++running_;
  const double first = done_ + prompt_cost * size.prompt;
  first_tokens_.emplace(first, request);
  ends_.emplace(first + size.output, request);
}

void server::leave(std::uint32_t request) {
  --running_;
  --decoding_;
  kv_tokens_ = running_ == 0 ? 0 : kv_tokens_ - kv_at_end_[request];
}

void server::crash(double now) {
  for (; !ends_.empty(); ends_.pop()) {
    events_.push_back({server_event::what::lost, ends_.top().second});
  }
  first_tokens_ = {};
  running_ = decoding_ = 0;
  kv_tokens_ = 0;
  down_until_ = now + down_seconds;
}

server::verdict server::arrive(std::uint32_t request, const request_size& size, double now) {
  if (now < down_until_) return verdict::failed;
  if (running_ >= room()) {
    if (facts_.kind == overload::rejects) return verdict::rejected;
    if (facts_.kind == overload::crashes) {
      crash(now);
      set_speed();
      return verdict::failed;
    }
    if (facts_.kind != overload::fills_kv) {
      queue_.push_back({request, size});
      return verdict::accepted;
    }
  }
  run(request, size);
  set_speed();
  return verdict::accepted;
}

double server::next_event() const {
  if (!events_.empty()) return now_;
  double next = std::min(facts_.step_at, next_walk_);
  if (running_ == 0) return next;
  double work = ends_.top().first - done_;
  if (!first_tokens_.empty()) work = std::min(work, first_tokens_.top().first - done_);
  if (facts_.kind == overload::fills_kv && decoding_ > 0 && !kv_is_full()) {
    // A trifle more than until the pool is full, so that it is full by then.
    work = std::min(work, (kv_pool_ - kv_tokens_) / decoding_ + 1e-6);
  }
  return std::min(next, now_ + std::max(work, 0.0) / speed_);
}

void server::change_room() {
  if (now_ >= facts_.step_at) {
    facts_.slots = facts_.slots_after_step;
    kv_pool_ = kv_pool_tokens(facts_.slots);
    facts_.step_at = std::numeric_limits<double>::infinity();
  }
  if (now_ >= next_walk_) {
    tenants_ = std::clamp(tenants_ + (random_() % 2 == 0 ? walk_step : -walk_step), 0.0, most_tenants);
    next_walk_ = now_ + walk_seconds;
  }
}

std::span<const server_event> server::advance(double now) {
  constexpr double rounding = 1e-9;
  const double work = speed_ * (now - now_);
  done_ += work;
  kv_tokens_ += work * decoding_;
  now_ = now;
  told_.clear();
  told_.swap(events_);
  for (; !first_tokens_.empty() && first_tokens_.top().first <= done_ + rounding; first_tokens_.pop()) {
    ++decoding_;
    told_.push_back({server_event::what::first_token, first_tokens_.top().second});
  }
  for (; !ends_.empty() && ends_.top().first <= done_ + rounding; ends_.pop()) {
    leave(ends_.top().second);
    told_.push_back({server_event::what::answered, ends_.top().second});
  }
  change_room();
  for (; !queue_.empty() && running_ < room(); queue_.pop_front()) {
    run(queue_.front().request, queue_.front().size);
  }
  set_speed();
  return told_;
}

}  // namespace evalcore::bench
