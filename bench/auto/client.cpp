#include "client.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <random>

namespace evalcore::bench {

namespace {

constexpr double round_trip = 0.02;   // Seconds until the client hears of what the server did.
constexpr double retry_after = 1;     // What a 429 says.
constexpr int failures_to_stop = 10;  // In a row.
constexpr double stop_seconds = 5;
constexpr double longest_stop = 60;
constexpr double never = std::numeric_limits<double>::infinity();

instant at(double second) { return instant{} + duration(std::llround(second * 1e9)); }

/// One run. Requests in flight are named by a place that is used again; an attempt's number is new each time.
class run {
 public:
  run(const server_facts& facts, const limit_policy& policy, const client_plan& plan,
      std::span<const request_size> sizes, std::uint64_t seed)
      : server_(facts, seed ^ 0x7e4a), plan_(plan), sizes_(sizes), random_(seed ^ 0x51ed) {
    if (const auto* fixed = std::get_if<std::uint32_t>(&policy)) {
      fixed_ = *fixed;
    } else {
      auto_.emplace(std::get<pool::limit_bounds>(policy));
    }
    outcome_.tokens.resize(static_cast<std::size_t>(plan.horizon) + 1);
  }

  client_outcome to_the_end() {
    while (answered_ < plan_.requests) {
      const double next = next_event();
      if (next > plan_.horizon) break;
      now_ = next;
      for (const auto& event : server_.advance(now_)) hear(event);
      while (!heard_.empty() && heard_.front().when <= now_) {
        const auto message = heard_.front();
        heard_.pop_front();
        take(message);
      }
      while (may_send()) send();
    }
    outcome_.makespan = answered_ < plan_.requests ? plan_.horizon : now_;
    if (auto_) outcome_.history.assign(auto_->history().begin(), auto_->history().end());
    return std::move(outcome_);
  }

 private:
  struct item {
    std::uint64_t index = 0;
    int retries = 0;
  };
  struct flight {
    item what;
    std::uint64_t attempt = 0;
    double sent = 0;
    double first_token = never;
  };
  struct told {
    double when = 0;
    std::uint32_t place = 0;
    pool::load_sign sign = pool::load_sign::answered;
  };
  struct retry {
    double when = 0;
    item what;
    bool operator>(const retry& other) const { return when > other.when; }
  };

  [[nodiscard]] const request_size& size(const item& one) const { return sizes_[one.index % sizes_.size()]; }

  [[nodiscard]] bool has_room() const {
    if (probing_) return in_flight_ < 1;
    return auto_ ? auto_->has_room() : in_flight_ < fixed_;
  }

  [[nodiscard]] bool may_send() const {
    if (now_ < paused_until_ || !has_room()) return false;
    return next_new_ < plan_.requests || (!retries_.empty() && retries_.top().when <= now_);
  }

  [[nodiscard]] double next_event() const {
    double next = server_.next_event();
    if (!heard_.empty()) next = std::min(next, heard_.front().when);
    if (paused_until_ > now_) return std::min(next, paused_until_);
    if (outcome_.sent == 0) return 0;
    if (!retries_.empty() && has_room()) next = std::min(next, std::max(now_, retries_.top().when));
    return next;
  }

  void send() {
    item what{next_new_};
    if (!retries_.empty() && retries_.top().when <= now_) {
      what = retries_.top().what;
      retries_.pop();
    } else {
      ++next_new_;
    }
    std::uint32_t place = static_cast<std::uint32_t>(flights_.size());
    if (free_.empty()) {
      flights_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
    }
    flights_[place] = {.what = what, .attempt = outcome_.sent++, .sent = now_};
    ++in_flight_;
    if (auto_)
      auto_->started(flights_[place].attempt, static_cast<std::uint64_t>(size(what).prompt), at(now_));
    switch (server_.arrive(place, size(what), now_)) {
      case server::verdict::accepted:
        break;
      case server::verdict::rejected:
        return turn_away(place, pool::load_sign::rejected);
      case server::verdict::failed:
        return turn_away(place, pool::load_sign::failed);
    }
  }

  void turn_away(std::uint32_t place, pool::load_sign sign) {
    ++outcome_.rejected;
    tell(place, sign);
  }

  void tell(std::uint32_t place, pool::load_sign sign) { heard_.push_back({now_ + round_trip, place, sign}); }

  void hear(const server_event& event) {
    switch (event.what) {
      case server_event::what::first_token:
        flights_[event.request].first_token = now_ + round_trip;
        probing_ = false;
        break;
      case server_event::what::answered:
        tell(event.request, pool::load_sign::answered);
        break;
      case server_event::what::lost:
        ++outcome_.lost;
        tell(event.request, pool::load_sign::failed);
        break;
    }
  }

  void take(const told& message) {
    const flight one = flights_[message.place];
    --in_flight_;
    free_.push_back(message.place);
    pool::attempt_report report{.sign = message.sign,
                                .total = at(now_) - at(one.sent),
                                .first_token = std::nullopt,
                                .tokens = std::nullopt};
    if (message.sign == pool::load_sign::answered) {
      const double tokens = size(one.what).output;
      report.first_token = at(one.first_token) - at(one.sent);
      report.tokens = static_cast<std::uint64_t>(tokens);
      outcome_.tokens[static_cast<std::size_t>(now_)] += tokens;
      ++answered_;
      failures_ = 0;
      stop_ = stop_seconds;
    } else {
      const double delay = std::min(0.5 * std::exp2(one.what.retries), 8.0);
      retries_.push({now_ + delay * std::uniform_real_distribution<double>(0.75, 1)(random_),
                     {one.what.index, one.what.retries + 1}});
      if (message.sign == pool::load_sign::rejected) paused_until_ = now_ + retry_after;
      if (message.sign == pool::load_sign::failed) stop_after_failures();
    }
    if (auto_) auto_->ended(one.attempt, report, at(now_));
  }

  void stop_after_failures() {
    if (++failures_ < failures_to_stop || now_ < paused_until_) return;
    paused_until_ = now_ + stop_;
    stop_ = std::min(2 * stop_, longest_stop);
    probing_ = true;
  }

  server server_;
  client_plan plan_;
  std::span<const request_size> sizes_;
  std::mt19937_64 random_;
  std::uint32_t fixed_ = 0;
  std::optional<pool::adaptive_limit> auto_;
  client_outcome outcome_;
  double now_ = 0;
  double paused_until_ = 0;
  bool probing_ = false;  // Stopped: one request at a time until a first token comes.
  double stop_ = stop_seconds;
  int failures_ = 0;
  std::uint64_t next_new_ = 0;
  std::uint64_t answered_ = 0;
  std::uint32_t in_flight_ = 0;
  std::vector<flight> flights_;
  std::vector<std::uint32_t> free_;
  std::deque<told> heard_;
  std::priority_queue<retry, std::vector<retry>, std::greater<>> retries_;
};

}  // namespace

double client_outcome::throughput(std::size_t from, std::size_t to) const {
  const auto begin = tokens.begin();
  return std::accumulate(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to),
                         0.0) /
         static_cast<double>(to - from);
}

client_outcome run_client(const server_facts& facts, const limit_policy& policy, const client_plan& plan,
                          std::span<const request_size> sizes, std::uint64_t seed) {
  return run(facts, policy, plan, sizes, seed).to_the_end();
}

}  // namespace evalcore::bench
