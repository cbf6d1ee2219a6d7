#include "race.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <tuple>

namespace evalcore::bench {
namespace {

/// What drives a run: an order, or the dispatcher.
class driver {
 public:
  virtual ~driver() = default;
  virtual prefix::action next(double now) = 0;
  virtual void first_token(std::uint32_t item, double now) = 0;
  virtual void end(std::uint32_t item, std::uint32_t cached, double now) = 0;
  virtual void shared() {}
};

class listed final : public driver {
 public:
  explicit listed(const std::vector<std::uint32_t>& order) : order_(order) {}
  prefix::action next(double /*now*/) override {
    if (next_ == order_.size()) return prefix::finished{};
    return prefix::send{.item = order_[next_++], .slot = {}, .predicted_cached = {}};
  }
  void first_token(std::uint32_t /*item*/, double /*now*/) override {}
  void end(std::uint32_t /*item*/, std::uint32_t /*cached*/, double /*now*/) override {}

 private:
  const std::vector<std::uint32_t>& order_;
  std::size_t next_ = 0;
};

/// As a run does it: the suite is dealt, planned and dispatched.
class planned final : public driver {
 public:
  planned(const server_kind& kind, const token_suite& suite)
      : tells_(kind.tells),
        dealt_(prefix::deal(static_cast<std::uint32_t>(suite.prompts.size()), 1)),
        place_(dealt_.size()),
        dispatch_(planned_order(suite), told(kind)) {
    for (std::uint32_t at = 0; at < dealt_.size(); ++at) place_[dealt_[at]] = at;
  }
  prefix::action next(double now) override {
    auto action = dispatch_.next(at(now));
    if (auto* one = std::get_if<prefix::send>(&action)) one->item = dealt_[one->item];
    return action;
  }
  void first_token(std::uint32_t item, double now) override {
    dispatch_.on_first_token(place_[item], at(now));
  }
  void end(std::uint32_t item, std::uint32_t cached, double /*now*/) override {
    prefix::ending how;
    if (tells_) how.cached = cached;
    dispatch_.on_end(place_[item], how);
  }
  void shared() override { dispatch_.on_shared(true); }

 private:
  static instant at(double now) {
    return instant(std::chrono::duration_cast<duration>(std::chrono::duration<double>(now)));
  }
  static prefix::cache_model told(const server_kind& kind) {
    auto out = kind.told;
    out.in_flight = kind.in_flight;
    return out;
  }
  prefix::plan planned_order(const token_suite& suite) {
    std::vector<prefix::sequence> prompts;
    for (const auto item : dealt_) prompts.push_back(suite.prompts[item]);
    return prefix::make_plan(prompts, true, {.dealt = true});
  }

  bool tells_;
  std::vector<std::uint32_t> dealt_;
  std::vector<std::uint32_t> place_;
  prefix::dispatcher dispatch_;
};

/// The server, and the client that keeps as many requests in flight as it may, on a virtual clock.
class race {
 public:
  race(const server_kind& kind, const token_suite& suite, const paged_suite& pages, driver& by)
      : kind_(kind), suite_(suite), by_(by), kept_(make_kept(kind, suite, pages)) {}

  finish run() {
    while (true) {
      fill();
      if (due_.empty()) return out_;
      happen();
    }
  }

 private:
  enum class what { first_token, end, shared, ask_again };
  struct event {
    double at;
    std::uint64_t number;  ///< Of those at one time the one that was foreseen first.
    what is;
    std::uint32_t item;
    std::uint32_t slot;
    std::uint32_t cached;
    bool operator>(const event& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  void fill() {
    while (running_ < kind_.in_flight) {
      const auto action = by_.next(now_);
      if (std::holds_alternative<prefix::finished>(action)) return;
      if (const auto* held = std::get_if<prefix::hold>(&action)) return hold(*held);
      if (const auto* copy = std::get_if<prefix::share>(&action)) {
        for (const auto to : copy->to) kept_->copy(copy->from, to);
        add(now_ + kind_.overhead_s, what::shared, {}, {}, {});
        continue;
      }
      start(std::get<prefix::send>(action));
    }
  }

  void hold(const prefix::hold& how) {
    if (due_.empty()) {
      std::fprintf(stderr, "bench_planner: %s: a hold with nothing under way\n", suite_.name.c_str());
      std::exit(1);
    }
    if (!how.until) return;
    // Rounded up, so that it is then.
    const auto at = std::chrono::duration<double>(how.until->time_since_epoch()).count() + 1e-8;
    if (at < due_.top().at) add(at, what::ask_again, {}, {}, {});
  }

  void start(const prefix::send& one) {
    const auto found = kept_->arrive(one.item, one.slot, now_);
    const auto length = static_cast<std::uint32_t>(suite_.prompts[one.item].size());
    const double compute = (length - found.tokens) / kind_.prefill_rate;
    double begin = now_;
    if (kind_.one_prefill) {
      begin = std::max(now_, prefill_free_);
      prefill_free_ = begin + compute;
    }
    const double first = begin + compute + kind_.overhead_s;
    add(first, what::first_token, one.item, found.slot, found.tokens);
    add(first + suite_.outputs[one.item] / kind_.decode_rate, what::end, one.item, found.slot, found.tokens);
    out_.cached += found.tokens;
    ++running_;
  }

  void add(double at, what is, std::uint32_t item, std::uint32_t slot, std::uint32_t cached) {
    due_.push({at, number_++, is, item, slot, cached});
  }

  void happen() {
    const auto one = due_.top();
    due_.pop();
    now_ = one.at;
    switch (one.is) {
      case what::first_token:
        kept_->first_token(one.item, now_);
        return by_.first_token(one.item, now_);
      case what::end:
        --running_;
        out_.makespan_s = now_;
        kept_->end(one.item, one.slot);
        return by_.end(one.item, one.cached, now_);
      case what::shared:
        return by_.shared();
      case what::ask_again:
        return;
    }
  }

  const server_kind& kind_;
  const token_suite& suite_;
  driver& by_;
  std::unique_ptr<kept_prompts> kept_;
  std::priority_queue<event, std::vector<event>, std::greater<>> due_;
  std::uint64_t number_ = 0;
  double now_ = 0;
  double prefill_free_ = 0;
  std::uint32_t running_ = 0;
  finish out_;
};

}  // namespace

finish run_planned(const server_kind& kind, const token_suite& suite, const paged_suite& pages) {
  planned by(kind, suite);
  return race(kind, suite, pages, by).run();
}

finish run_in_order(const server_kind& kind, const token_suite& suite, const paged_suite& pages,
                    const std::vector<std::uint32_t>& order) {
  listed by(order);
  return race(kind, suite, pages, by).run();
}

double least_makespan(const server_kind& kind, const token_suite& suite, const paged_suite& pages) {
  // What is distinct must be computed once; every request holds a place until its last token.
  const double computed = static_cast<double>(pages.distinct) * kind.page / kind.prefill_rate;
  double held = 0;
  for (const auto output : suite.outputs) held += kind.overhead_s + output / kind.decode_rate;
  const double by_prefill = kind.one_prefill ? computed : 0;
  return std::max(by_prefill, (held + computed) / kind.in_flight);
}

}  // namespace evalcore::bench
