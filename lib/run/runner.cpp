#include <evalcore/run/runner.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/peak_memory.hpp>
#include <evalcore/base/processor_time.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/ids.hpp>
#include <evalcore/run/planning.hpp>

#include "run/flights.hpp"
#include "run/host_scoring.hpp"
#include "run/limit_text.hpp"
#include "run/outgoing.hpp"
#include "run/run_state.hpp"
#include "run/setup.hpp"
#include "run/work_left.hpp"

namespace evalcore::run {
namespace {

using std::chrono::steady_clock;

/// How often committed replies are flushed to the disk, and progress is told at least.
constexpr auto sync_interval = std::chrono::milliseconds(200);
/// Events: more than what comes in one turn of the loop.
constexpr std::size_t most_kept_together = 256;
/// Scorers may be slow, and what came before waits for its commit meanwhile.
constexpr auto longest_kept_together = std::chrono::milliseconds(20);
/// How often the history of adaptive limits is committed, if it has grown.
constexpr auto limits_interval = std::chrono::seconds(1);

/// Lets the host at the pool while it runs.
class lent_pool {
 public:
  lent_pool(const observer& watch, pool::pool& running) : watch_(watch) {
    if (watch_.pooled) watch_.pooled(&running);
  }
  ~lent_pool() {
    if (watch_.pooled) watch_.pooled(nullptr);
  }
  lent_pool(const lent_pool&) = delete;
  lent_pool& operator=(const lent_pool&) = delete;

 private:
  const observer& watch_;
};

/// Has the pool's poll return when the host gives a score.
class heard_scorer {
 public:
  heard_scorer(host_scorer* who, pool::pool& running) : who_(who) {
    if (who_ != nullptr) who_->when_given([&running] { running.wake(); });
  }
  ~heard_scorer() {
    if (who_ != nullptr) who_->when_given(nullptr);
  }
  heard_scorer(const heard_scorer&) = delete;
  heard_scorer& operator=(const heard_scorer&) = delete;

 private:
  host_scorer* who_;
};

/// One run, on the host's thread: from the store to the pool and back.
class runner {
 public:
  runner(const suite& what, net::loop& owner, std::vector<backend::backend*> endpoints, store& into,
         const run_options& how, const observer& watch, std::stop_token stop)
      : loop_(owner),
        endpoints_(std::move(endpoints)),
        backend_(*endpoints_.front()),
        pool_(how.pool),
        stop_(std::move(stop)),
        run_(what, into, how, watch) {
    if (!how_.scorer) return;
    scoring_ = std::make_unique<host_scoring>(run_, *how_.scorer);
    run_.scorers = item_scorers(scored_by_host(how_.scorer->name()));
    run_.host = scoring_.get();
  }

  result<summary> run() {
    if (auto named = take_named_scorer(); !named) return std::move(named).error();
    begin_summary();
    choose_twice();
    if (auto own = deal_shard(); !own) return std::move(own).error();
    auto tools = choose_tools_mode(how_.request.tools, run_.from, loop_, backend_, watch_.note,
                                   pool::patient(pool_.retry, watch_.note), stop_);
    if (!tools) return std::move(tools).error();
    run_.request.tools = *tools;

    auto left = look_into_store(run_, how_.part ? &own_ : nullptr);
    if (!left) return std::move(left).error();
    told_.tools = !left->any_tools ? "none" : run_.request.tools == tools_mode::text ? "text" : "native";
    bound_in_flight();
    const auto to_send = left->pending.size();
    if (auto planned = plan(*left); !planned) return std::move(planned).error();
    record_.setup_json = to_json(setup());
    if (auto begun = run_.into.begin_run(record_); !begun) return std::move(begun).error();
    if (left->seen_before) {
      auto line = reuse_line(told_.items, told_.reused, left->cached.size(), to_send);
      if (seconds_ > 0) line += ", and " + std::to_string(seconds_) + " a second time for the noise floor";
      watch_.note(line);
    }
    if (auto taken = take_cached(run_, left->cached); !taken) return std::move(taken).error();
    if (out_) {
      if (auto sent = send(); !sent) return std::move(sent).error();
    }
    if (scoring_) {
      if (auto scored = await_scores(); !scored) return std::move(scored).error();
    }
    return finish();
  }

 private:
  result<void> take_named_scorer() {
    if (how_.scorer_named.empty()) return {};
    auto found = score::find_scorer(how_.scorer_named);
    if (!found) return std::move(found).error();
    run_.scorers = item_scorers(*std::move(found));
    return {};
  }

  void begin_summary() {
    told_.run_id = new_run_id();
    told_.suite_path = run_.from.path();
    told_.suite_hash = run_.from.hash();
    told_.task = how_.task.empty() ? run_.from.task() : how_.task;
    told_.backend = backend_.about();
    for (const auto& note : told_.backend.notes) watch_.note(note);
    told_.probe = how_.probe ? *how_.probe : backend::facts_of(backend_);
    told_.order = how_.suite_order ? "suite" : "prefix";
    if (how_.price) told_.cost = cost_summary{*how_.price, {}, {}, how_.max_cost};
    told_.items = std::min(run_.from.size(), how_.limit.value_or(run_.from.size()));
    record_.run_id = told_.run_id;
    record_.suite_path = told_.suite_path;
    record_.suite_hash = told_.suite_hash;
    record_.identity = told_.backend.identity;
    record_.options_json = how_.options_json;
    record_.started_unix_ms = unix_ms_now();
    record_.probe_json = json::to_text(backend::to_json(told_.probe));
  }

  /// Of the whole suite, so that the parts of it ask what one run would.
  void choose_twice() {
    if (!how_.noise_floor) return;
    run_.twice = choose_for_second(run_.from, told_.items, *how_.noise_floor);
    run_.pairs.emplace(told_.noise_floor.emplace());
  }

  result<void> deal_shard() {
    if (!how_.part) return {};
    auto own = items_of(*how_.part, run_.from, told_.items);
    if (!own) return std::move(own).error();
    own_ = *std::move(own);
    told_.items = own_.size();
    told_.shard = how_.part->text();
    return {};
  }

  [[nodiscard]] run_setup setup() const {
    return {.request = run_.request,
            .task = told_.task,
            .items = std::min(run_.from.size(), how_.limit.value_or(run_.from.size())),
            .shard = told_.shard,
            .order = told_.order,
            .tools = told_.tools,
            .concurrency = told_.concurrency,
            .adaptive = told_.adaptive,
            .labels = how_.labels,
            .noise_floor = how_.noise_floor,
            .price = how_.price,
            .host_scorer = how_.scorer ? how_.scorer->name() : "",
            .scorer_named = how_.scorer_named};
  }

  /// So many requests in flight at most, at each endpoint.
  void bound_in_flight() {
    auto& bound = pool_.adaptive ? pool_.highest_tried : pool_.max_in_flight;
    told_.adaptive = pool_.adaptive;
    if (const auto slots = told_.backend.slots) {
      bound = std::min(bound, *slots);
      pool_.first_tried = std::max(pool_.first_tried, *slots / 2);
    }
    told_.concurrency = bound;
  }

  /// Takes what is left to send: a long run need not hold it twice.
  result<void> plan(work_left& left) {
    const auto pending = std::move(left.pending);
    const auto seconds = std::move(left.seconds);
    seconds_ = seconds.size();
    auto planned = outgoing::plan(run_, pending, seconds, loop_, endpoints_, pool_, stop_);
    if (!planned) return std::move(planned).error();
    out_ = *std::move(planned);
    if (out_) record_.plan_json = out_->plan_json();
    return {};
  }

  result<void> send() {
    pool::pool requests(loop_, endpoints_, out_->source(), pool_);
    const std::stop_callback cancel(stop_, [&requests] {
      requests.cancel_all();
      requests.wake();
    });
    const lent_pool lent(watch_, requests);
    const heard_scorer heard(how_.scorer.get(), requests);
    flights flying(run_, *out_);
    started_ = steady_clock::now();
    const double processor_at_start = processor_seconds();
    auto synced = started_;
    auto kept_limits = started_;
    requests.start();
    for (;;) {
      auto events = take_events(requests);
      if (auto kept = keep(events, flying, requests); !kept) return kept;
      const auto now = steady_clock::now();
      if (!events.empty() && is_last(events.back())) {
        told_.wall_s = seconds(now - started_);
        told_.processor_s = processor_seconds() - processor_at_start;
        told_.peak_memory = peak_memory();
        told_.endpoints = requests.figures();
        if (auto kept = bear(keep_limits(told_.endpoints), requests); !kept) return kept;
        tell(now);
        return drained(events.back());
      }
      if (scoring_ && !store_failure_) {
        if (auto scored = bear(scoring_->go_on(), requests); !scored) return scored;
      }
      if (now - synced >= sync_interval) {
        auto flushed = store_failure_ ? result<void>() : bear(run_.into.sync(), requests);
        if (!flushed) return flushed;
        synced = now;
        look_for_pause(requests);
      }
      if (pool_.adaptive && now - kept_limits >= limits_interval) {
        if (auto kept = bear(keep_limits(requests.figures()), requests); !kept) return kept;
        kept_limits = now;
      }
      tell(now);
    }
  }

  static bool is_last(const pool::event& one) { return one.what == pool::event::kind::drained; }

  /// What has come, once something has; what ends the run stands last.
  static std::vector<pool::event> take_events(pool::pool& from) {
    std::vector<pool::event> all;
    for (auto one = from.poll(sync_interval); one; one = from.poll(std::chrono::milliseconds::zero())) {
      all.push_back(*std::move(one));
      if (is_last(all.back()) || all.size() == most_kept_together) break;
    }
    return all;
  }

  /// Into the store, as much at once as is handled in a moment: a commit costs more than what it commits.
  result<void> keep(std::span<pool::event> events, flights& flying, pool::pool& requests) {
    while (!events.empty()) {
      result<void> failed;  // Not of the store, which keeps what came before.
      std::size_t handled = 0;
      if (!store_failure_) {
        auto kept = bear(run_.into.together([&]() -> result<void> {
          const auto enough = steady_clock::now() + longest_kept_together;
          do {
            auto done = flying.handle(events[handled++]);
            if (!done && done.error().at == stage::store) return done;
            if (!done) failed = std::move(done);
          } while (failed && handled < events.size() && steady_clock::now() < enough);
          return {};
        }),
                         requests);
        if (!kept) return kept;
      }
      if (store_failure_) {
        count_not_saved(events);
        return {};
      }
      if (auto counted = flying.committed(); !counted) return counted;
      if (auto borne = bear(std::move(failed), requests); !borne) return borne;
      events = events.subspan(handled);
      if (!events.empty()) tell(steady_clock::now());
    }
    return {};
  }

  void count_not_saved(std::span<const pool::event> events) {
    told_.not_saved += static_cast<std::uint64_t>(std::ranges::count_if(events, [this](const auto& one) {
      return one.what == pool::event::kind::ended && one.outcome->has_value() && !out_->second(one.id);
    }));
  }

  /// A store that takes no more ends the run, but not what can be told of it; other errors end both.
  result<void> bear(result<void> done, pool::pool& requests) {
    if (done) return done;
    requests.cancel_all();
    if (done.error().at != stage::store) return done;
    if (!store_failure_) store_failure_ = std::move(done).error();
    return {};
  }

  /// A killed run has no summary; what its limits did is in the store all the same.
  result<void> keep_limits(const std::vector<pool::endpoint_figures>& of) {
    if (!pool_.adaptive || store_failure_) return {};
    auto text = limits_json(of);
    if (text == kept_limits_) return {};
    if (auto kept = run_.into.put_limits(told_.run_id, text); !kept) return kept;
    kept_limits_ = std::move(text);
    return {};
  }

  /// A run that waits for its servers says how long, so that it is not taken for one that hangs.
  void look_for_pause(const pool::pool& requests) {
    run_.now.paused_s.reset();
    if (run_.now.running > 0) return;
    for (const auto& one : requests.figures()) {
      if (!one.paused_for) return run_.now.paused_s.reset();
      const double wait = seconds(*one.paused_for);
      run_.now.paused_s = std::min(run_.now.paused_s.value_or(wait), wait);
    }
  }

  result<void> drained(const pool::event& last) {
    if (const auto& changed = out_->planned().failure()) return *changed;
    if (store_failure_) {
      told_.stopped = store_failure_->message;
      return {};
    }
    if (last.outcome && !*last.outcome && !stop_.stop_requested()) {
      const auto& why = last.outcome->error();
      if (why.code == errc::internal) return why;
      told_.stopped = in_words(why);
    }
    if (out_->over_budget()) told_.stopped = run_.costs.over_budget();
    return run_.into.sync();
  }

  result<void> await_scores() {
    const auto meanwhile = [this, synced = steady_clock::now()]() mutable -> result<void> {
      const auto now = steady_clock::now();
      tell(now);
      if (now - synced < sync_interval) return {};
      synced = now;
      return run_.into.sync();
    };
    if (store_failure_) {
      scoring_->give_up();
      return {};
    }
    auto scored = scoring_->finish(stop_, meanwhile);
    if (scored || scored.error().at != stage::store) return scored;
    store_failure_ = std::move(scored).error();
    told_.stopped = store_failure_->message;
    return {};
  }

  result<summary> finish() {
    told_.interrupted = stop_.stop_requested();
    run_.costs.close();
    if (told_.noise_floor) told_.noise_floor->run_items = told_.items;
    told_.not_run = told_.items - told_.answered - told_.errors;
    auto done = run_.into.finish_run(told_.run_id, to_json(told_));
    if (done) done = run_.into.sync();
    if (!done && !store_failure_) return std::move(done).error();
    return std::move(told_);
  }

  void tell(steady_clock::time_point now) {
    run_.now.items = told_.items + seconds_;
    run_.now.reused = told_.reused;
    run_.now.elapsed_s = seconds(now - started_);
    watch_.progressed(run_.now);
  }

  net::loop& loop_;
  std::vector<backend::backend*> endpoints_;
  backend::backend& backend_;  ///< The first of them, which speaks for all.
  pool::options pool_;         ///< Within what the backend declares.
  std::stop_token stop_;
  run_state run_;
  const run_options& how_ = run_.how;
  const observer& watch_ = run_.watch;
  summary& told_ = run_.told;

  std::vector<std::size_t> own_;           ///< Suite positions of a shard's items.
  std::size_t seconds_ = 0;                ///< Second answers to ask for.
  std::unique_ptr<outgoing> out_;          ///< Null: nothing is to be sent.
  std::unique_ptr<host_scoring> scoring_;  ///< Null: the items' scorers do it.
  run_record record_;
  std::optional<error> store_failure_;  ///< It takes no more.
  std::string kept_limits_;             ///< As the store has them.
  steady_clock::time_point started_ = steady_clock::now();
};

}  // namespace

result<summary> run_suite(const suite& what, net::loop& owner,
                          const std::vector<backend::backend*>& endpoints, store& into,
                          const run_options& how, const observer& watch, const std::stop_token& stop) {
  return runner(what, owner, endpoints, into, how, watch, stop).run();
}

}  // namespace evalcore::run
