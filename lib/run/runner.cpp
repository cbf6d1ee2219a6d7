#include <evalcore/run/runner.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/ids.hpp>
#include <evalcore/run/planning.hpp>
#include <evalcore/score/scorer.hpp>

#include "run/budgeted_source.hpp"
#include "run/ledger.hpp"
#include "run/limit_text.hpp"
#include "run/planned_source.hpp"
#include "run/setup.hpp"
#include "run/tally.hpp"

namespace evalcore::run {
namespace {

using std::chrono::steady_clock;

/// How often committed replies are flushed to the disk, and progress is told at least.
constexpr auto sync_interval = std::chrono::milliseconds(200);
/// How often the history of adaptive limits is committed, if it has grown.
constexpr auto limits_interval = std::chrono::seconds(1);

/// The failure with what the backend said of it, unless that is in it already.
std::string in_words(const error& failure) {
  if (failure.backend_words.empty() || failure.message.find(failure.backend_words) != std::string::npos) {
    return failure.message;
  }
  constexpr std::size_t shown = 200;
  const auto words = failure.backend_words.substr(0, shown);
  return failure.message + ": " + words + (failure.backend_words.size() > shown ? "…" : "");
}

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

/// One run, on the host's thread: from the store to the pool and back.
class runner {
 public:
  runner(const suite& what, net::loop& owner, std::vector<backend::backend*> endpoints, store& into,
         const run_options& how, const observer& watch, std::stop_token stop)
      : suite_(what),
        loop_(owner),
        endpoints_(std::move(endpoints)),
        backend_(*endpoints_.front()),
        store_(into),
        how_(how),
        watch_(watch),
        stop_(std::move(stop)) {}

  result<summary> run() {
    begin_summary();
    if (how_.part) {
      auto own = items_of(*how_.part, suite_, summary_.items);
      if (!own) return std::move(own).error();
      own_ = *std::move(own);
      summary_.items = own_.size();
      summary_.shard = how_.part->text();
    }
    auto tools = choose_tools_mode(how_.request.tools, suite_, loop_, backend_, watch_.note,
                                   pool::patient(how_.pool.retry, watch_.note), stop_);
    if (!tools) return std::move(tools).error();
    request_ = how_.request;
    request_.tools = *tools;

    if (auto read = read_store(); !read) return std::move(read).error();
    summary_.tools = !any_tools_ ? "none" : request_.tools == tools_mode::text ? "text" : "native";
    if (auto planned = plan(); !planned) return std::move(planned).error();
    record_.setup_json = to_json(setup());
    if (auto begun = store_.begin_run(record_); !begun) return std::move(begun).error();
    if (seen_before_) {
      watch_.note(reuse_line(summary_.items, summary_.reused, cached_.size(), pending_.size()));
    }
    if (auto taken = take_cached(); !taken) return std::move(taken).error();
    if (!pending_.empty()) {
      if (auto sent = send(); !sent) return std::move(sent).error();
    }
    return finish();
  }

 private:
  void begin_summary() {
    summary_.run_id = new_run_id();
    summary_.suite_path = suite_.path();
    summary_.suite_hash = suite_.hash();
    summary_.task = how_.task.empty() ? suite_.task() : how_.task;
    summary_.backend = backend_.about();
    summary_.probe = how_.probe ? *how_.probe : backend::facts_of(backend_);
    summary_.order = how_.suite_order ? "suite" : "prefix";
    if (how_.price) summary_.cost = cost_summary{*how_.price, {}, {}, how_.max_cost};
    summary_.items = std::min(suite_.size(), how_.limit.value_or(suite_.size()));
    record_.run_id = summary_.run_id;
    record_.suite_path = summary_.suite_path;
    record_.suite_hash = summary_.suite_hash;
    record_.identity = summary_.backend.identity;
    record_.options_json = how_.options_json;
    record_.started_unix_ms = unix_ms_now();
    record_.probe_json = json::to_text(backend::to_json(summary_.probe));
  }

  /// An item with what goes out for it and where that is kept.
  struct prepared_item {
    item one;
    std::shared_ptr<const score::scorer> scorer;
    chat::request request;
    item_record record;
  };

  result<prepared_item> read_item(std::size_t index) const {
    auto one = suite_.get(index);
    if (!one) return std::move(one).error();
    auto scorer = score::find_scorer(one->scorer);
    if (!scorer) return std::move(scorer).error();
    auto request = prepare(*one, request_);
    if (!request) return std::move(request).error();
    auto record = record_of(*one, *request);
    return prepared_item{*std::move(one), *std::move(scorer), *std::move(request), std::move(record)};
  }

  /// Takes from the store what it has, and lists the rest.
  result<void> read_store() {
    std::uint64_t sampled = 0;
    for (std::size_t at = 0; at < summary_.items; ++at) {
      const auto index = how_.part ? own_[at] : at;
      auto read = read_item(index);
      if (!read) return std::move(read).error();
      const auto& [one, scorer, request, record] = *read;
      any_tools_ = any_tools_ || !one.request.tools.empty();
      tally_.item(one.category, *scorer);

      auto stored = store_.find(record);
      if (!stored) return std::move(stored).error();
      if (!*stored) {
        auto earlier = find_earlier(how_.cache, record.cache_key, request);
        if (!earlier) return std::move(earlier).error();
        if (*earlier) {
          cached_.push_back(index);
          continue;
        }
        if (auto payable = ledger_.payable(one.id, request); !payable) return payable;
        pending_.push_back(static_cast<std::uint32_t>(index));
        sampled += request.params.temperature ? 0U : 1U;
        continue;
      }
      // Scored again: it is cheap, and a scorer that was mended counts at once.
      const auto& reply = (*stored)->reply;
      const auto verdict = scorer->score(task_of(one), reply);
      if (auto kept = store_.put_verdict(record, verdict); !kept) return kept;
      summary_.reused += 1;
      if (!(*stored)->priced) ledger_.reused(request, reply);
      tally_.answer(one.category, *scorer, reply, verdict);
    }
    if (sampled > 0) {
      watch_.note(std::to_string(sampled) + " of " + std::to_string(pending_.size()) +
                  " items are sent without a temperature, so the backend's default holds and may sample; "
                  "--temperature 0 makes them greedy");
    }
    auto runs = store_.runs();
    if (!runs) return std::move(runs).error();
    seen_before_ = *runs > 0 || !cached_.empty();
    auto twice = store_.possibly_paid_twice();
    if (!twice) return std::move(twice).error();
    summary_.possibly_paid_twice = *twice;
    if (summary_.cost) {
      auto spent = store_.spent(summary_.suite_hash, summary_.backend.identity);
      if (!spent) return std::move(spent).error();
      summary_.cost->spent += *spent;
    }
    return {};
  }

  [[nodiscard]] run_setup setup() const {
    return {.request = request_,
            .task = summary_.task,
            .items = std::min(suite_.size(), how_.limit.value_or(suite_.size())),
            .shard = summary_.shard,
            .order = summary_.order,
            .tools = summary_.tools,
            .concurrency = summary_.concurrency,
            .adaptive = summary_.adaptive,
            .labels = how_.labels,
            .price = how_.price};
  }

  /// Keeps the replies that stand in as those of this run's items, scored by these.
  result<void> take_cached() {
    for (const auto index : cached_) {
      auto read = read_item(index);
      if (!read) return std::move(read).error();
      const auto& [one, scorer, request, record] = *read;
      auto earlier = find_earlier(how_.cache, record.cache_key, request);
      if (!earlier) return std::move(earlier).error();
      const auto& [reply, run_id] = earlier->value();
      const auto verdict = scorer->score(task_of(one), reply);
      const attempt_record nothing_sent{
          .started_unix_ms = unix_ms_now(), .cost = ledger_.sent(0), .answered_by = run_id};
      if (auto kept = store_.put_reply(record, nothing_sent, reply, verdict); !kept) return kept;
      summary_.reused += 1;
      summary_.stood_in += 1;
      tally_.answer(one.category, *scorer, reply, verdict);
    }
    return {};
  }

  result<void> plan() {
    auto& bound = how_.pool.adaptive ? how_.pool.highest_tried : how_.pool.max_in_flight;
    summary_.adaptive = how_.pool.adaptive;
    if (summary_.backend.slots) bound = std::min(bound, *summary_.backend.slots);
    summary_.concurrency = bound;
    if (pending_.empty()) return {};
    if (!how_.suite_order) deal(suite_, pending_);
    auto made =
        plan_items(suite_, pending_, request_, {.suite_order = how_.suite_order, .dealt = !how_.suite_order},
                   loop_, backend_, pool::patient(how_.pool.retry, watch_.note), stop_);
    if (!made) return std::move(made).error();
    auto order = *std::move(made);
    summary_.plan_exact = order.exact;
    summary_.prefix_groups = order.groups.size();
    summary_.invariant_prefix = order.invariant_units;
    auto cache = cache_model_of(backend_, request_.use_prompt_cache, bound);
    if (endpoints_.size() > 1) cache.slots.reset();  // Which of them a request meets is not known here.
    record_.plan_json = json::to_text(json::object{
        {"unit", order.exact ? "tokens" : "bytes"},
        {"groups", std::uint64_t{order.groups.size()}},
        {"invariant", std::uint64_t{order.invariant_units}},
        {"total", order.total_units},
    });
    source_ = std::make_unique<planned_source>(suite_, pending_, request_, std::move(order), cache,
                                               summary_.backend.context_per_slot);
    if (summary_.cost) {
      const auto& spent = summary_.cost->spent;
      budgeted_ =
          std::make_unique<budgeted_source>(*source_, pending_.size(), *how_.price, summary_.plan_exact,
                                            spent.most.value_or(spent.least), how_.max_cost);
    }
    return {};
  }

  result<void> send() {
    pool::source& from = budgeted_ ? static_cast<pool::source&>(*budgeted_) : *source_;
    pool::pool requests(loop_, endpoints_, from, how_.pool);
    const std::stop_callback cancel(stop_, [&requests] {
      requests.cancel_all();
      requests.wake();
    });
    const lent_pool lent(watch_, requests);
    started_ = steady_clock::now();
    auto synced = started_;
    auto kept_limits = started_;
    requests.start();
    for (;;) {
      auto event = requests.poll(sync_interval);
      const auto now = steady_clock::now();
      if (event) {
        if (event->what == pool::event::kind::drained) {
          summary_.wall_s = seconds(now - started_);
          summary_.endpoints = requests.figures();
          if (auto kept = bear(keep_limits(summary_.endpoints), requests); !kept) return kept;
          tell(now);
          return drained(*event);
        }
        const bool answered = event->what == pool::event::kind::ended && event->outcome->has_value();
        auto handled = store_failure_ ? result<void>() : bear(handle(*event), requests);
        if (!handled) return handled;
        if (store_failure_ && answered) summary_.not_saved += 1;
      }
      if (now - synced >= sync_interval) {
        auto flushed = store_failure_ ? result<void>() : bear(store_.sync(), requests);
        if (!flushed) return flushed;
        synced = now;
        look_for_pause(requests);
      }
      if (how_.pool.adaptive && now - kept_limits >= limits_interval) {
        if (auto kept = bear(keep_limits(requests.figures()), requests); !kept) return kept;
        kept_limits = now;
      }
      tell(now);
    }
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
    if (!how_.pool.adaptive || store_failure_) return {};
    auto text = limits_json(of);
    if (text == kept_limits_) return {};
    if (auto kept = store_.put_limits(summary_.run_id, text); !kept) return kept;
    kept_limits_ = std::move(text);
    return {};
  }

  /// A run that waits for its servers says how long, so that it is not taken for one that hangs.
  void look_for_pause(const pool::pool& requests) {
    progress_.paused_s.reset();
    if (progress_.running > 0) return;
    for (const auto& one : requests.figures()) {
      if (!one.paused_for) return progress_.paused_s.reset();
      const double wait = seconds(*one.paused_for);
      progress_.paused_s = std::min(progress_.paused_s.value_or(wait), wait);
    }
  }

  result<void> drained(const pool::event& last) {
    if (source_->failure()) return *source_->failure();
    if (store_failure_) {
      summary_.stopped = store_failure_->message;
      if (summary_.not_saved > 0) {
        summary_.stopped +=
            "; answers that had come and are not saved: " + std::to_string(summary_.not_saved);
      }
      return {};
    }
    if (last.outcome && !*last.outcome && !stop_.stop_requested()) {
      const auto& why = last.outcome->error();
      if (why.code == errc::internal) return why;
      summary_.stopped = in_words(why);
    }
    if (budgeted_ && budgeted_->stopped()) summary_.stopped = ledger_.over_budget();
    return store_.sync();
  }

  result<void> handle(pool::event& event) {
    switch (event.what) {
      case pool::event::kind::started:
        return started(event);
      case pool::event::kind::retrying:
        return retrying(event);
      case pool::event::kind::ended:
        return ended(event);
      case pool::event::kind::first_token:
      case pool::event::kind::drained:
        break;
    }
    return {};
  }

  result<void> started(const pool::event& event) {
    progress_.running += 1;
    summary_.sent += 1;
    if (event.attempt > 1) {
      progress_.retrying -= 1;
      summary_.retried += 1;
    } else if (auto made = make_flight(event.id); !made) {
      return made;
    }
    auto& one = flying_.at(event.id);
    one.waits = false;
    one.attempt.started_unix_ms = unix_ms_now();
    one.attempt.failure.reset();
    one.attempt.cost = ledger_.sent(one.bound);
    return store_.begin_attempt(one.record, one.attempt);
  }

  result<void> make_flight(pool::item_id id) {
    auto one = suite_.get(pending_[id]);
    if (!one) return std::move(one).error();
    auto request = prepare(*one, request_);
    if (!request) return std::move(request).error();
    const auto out = source_->take_sent(id);
    flight made{record_of(*one, *request),
                {unix_ms_now(), std::nullopt, out.predicted_cached, out.slot, std::nullopt}};
    // Tools that go out as text leave these no place.
    if (one->request.tool_choice && !request->tool_choice) made.left_out.emplace_back("tool_choice");
    if (one->request.parallel_tool_calls && !request->parallel_tool_calls) {
      made.left_out.emplace_back("parallel_tool_calls");
    }
    if (budgeted_) made.bound = budgeted_->bound(id);
    if (request->tools.empty() && std::ranges::any_of(one->request.tools, &chat::tool::strict)) {
      made.left_out.emplace_back("tools.strict");
    }
    flying_.insert_or_assign(id, std::move(made));
    return {};
  }

  result<void> retrying(const pool::event& event) {
    progress_.running -= 1;
    progress_.retrying += 1;
    auto& one = flying_.at(event.id);
    one.waits = true;
    const auto& why = event.outcome->error();
    one.attempt.failure = why;
    one.attempt.cost = ledger_.ended(*event.outcome, one.bound);
    if (summary_.retries_by_class[std::string(name(why.code))]++ == 0) {
      watch_.note("item \"" + one.record.item_id + "\" is sent again: " + in_words(why));
    }
    return store_.put_failure(one.record, one.attempt);
  }

  result<void> ended(pool::event& event) {
    auto& outcome = *event.outcome;
    const bool cancelled = !outcome && outcome.error().code == errc::cancelled;
    if (event.attempt == 0) {  // It was not sent.
      if (cancelled) return {};
      if (auto made = make_flight(event.id); !made) return made;
    }
    auto node = flying_.extract(event.id);
    auto& [record, attempt, left_out, waits, bound] = node.mapped();
    if (event.attempt > 0) (waits ? progress_.retrying : progress_.running) -= 1;
    if (event.attempt > 0 && !waits) attempt.cost = ledger_.ended(outcome, bound);
    if (!outcome) {
      attempt.failure = outcome.error();
      if (!cancelled) count_error(record.item_id, outcome.error());
      return waits ? result<void>() : store_.put_failure(record, attempt);
    }
    tell_order();
    outcome->dropped.insert(outcome->dropped.end(), left_out.begin(), left_out.end());
    auto one = suite_.get(pending_[event.id]);
    if (!one) return std::move(one).error();
    auto scorer = score::find_scorer(one->scorer);
    if (!scorer) return std::move(scorer).error();
    const auto verdict = (*scorer)->score(task_of(*one), *outcome);
    if (auto kept = store_.put_reply(record, attempt, *outcome, verdict); !kept) return kept;
    progress_.done += 1;
    tally_.answer(one->category, **scorer, *outcome, verdict);
    tell_dropped(record.item_id, *outcome);
    count_tokens(*outcome, attempt);
    return {};
  }

  void tell_order() {
    const auto now = source_->planning();
    if (now == told_planning_) return;
    told_planning_ = now;
    watch_.note(now == prefix::planning::ended
                    ? "the backend's cache gave less than a tenth of what requests share: the rest goes out "
                      "without waiting, in the order in which it was dealt"
                    : "the backend does not tell whether its cache gave what requests share, and waiting for "
                      "it has taken 2 % of the run: they wait no longer than that from here on");
  }

  /// An answer without what was asked for may score otherwise: that is said, once for each field.
  void tell_dropped(const std::string& item_id, const chat::reply& reply) {
    for (const auto& field : reply.dropped) {
      if (!told_dropped_.insert(field).second) continue;
      watch_.note("the backend has no place for \"" + field + "\": item \"" + item_id +
                  "\" was answered without it, and so are others that ask for it");
    }
  }

  void count_error(const std::string& item_id, const error& why) {
    progress_.done += 1;
    progress_.errors += 1;
    summary_.errors += 1;
    if (summary_.errors_by_class[std::string(name(why.code))]++ == 0) {
      watch_.note("item \"" + item_id + "\" errored: " + in_words(why));
    }
  }

  void count_tokens(const chat::reply& reply, const attempt_record& attempt) {
    if (!tally_.tokens(reply, attempt.predicted_cached_tokens) && summary_.unbelievable_usage == 1) {
      watch_.note(
          "the backend reports token counts that cannot be (such as more cached tokens than the prompt has); "
          "replies with such counts are left out of the sums");
    }
    progress_.completion_tokens = summary_.completion_tokens.value_or(0);
    progress_.prompt_tokens = summary_.prompt_tokens.value_or(0);
    progress_.cached_tokens = summary_.cached_tokens;
  }

  result<summary> finish() {
    summary_.interrupted = stop_.stop_requested();
    ledger_.close();
    summary_.not_run = summary_.items - summary_.answered - summary_.errors;
    auto done = store_.finish_run(summary_.run_id, to_json(summary_));
    if (done) done = store_.sync();
    if (!done && !store_failure_) return std::move(done).error();
    return std::move(summary_);
  }

  void tell(steady_clock::time_point now) {
    progress_.items = summary_.items;
    progress_.reused = summary_.reused;
    progress_.elapsed_s = seconds(now - started_);
    watch_.progressed(progress_);
  }

  [[nodiscard]] item_record record_of(const item& one, const chat::request& request) const {
    return {item_key(summary_.suite_hash, one.id, 0, one.scorer),
            cache_key(summary_.backend.identity, request.model, canonical_text(request), 0), one.id, 0};
  }
  static score::task task_of(const item& one) { return {&one.target, &one.request.tools, one.category}; }

  struct flight {
    item_record record;
    attempt_record attempt;
    std::vector<std::string> left_out = {};  ///< Fields of the item that the prepared request lacks.
    bool waits = false;                      ///< For another attempt; the last one is stored.
    std::optional<pico_usd> bound = {};      ///< Of the cost of one attempt.
  };

  const suite& suite_;
  net::loop& loop_;
  std::vector<backend::backend*> endpoints_;
  backend::backend& backend_;  ///< The first of them, which speaks for all.
  store& store_;
  run_options how_;
  const observer& watch_;
  std::stop_token stop_;

  request_options request_;  ///< With the tools mode decided.
  bool any_tools_ = false;
  std::vector<std::size_t> own_;        ///< Suite positions of a shard's items.
  bool seen_before_ = false;            ///< A store had something that could have been reused.
  std::vector<std::size_t> cached_;     ///< Suite positions of items that the cache answers.
  std::vector<std::uint32_t> pending_;  ///< Suite positions still to send; the pool's ids count these.
  std::unique_ptr<planned_source> source_;
  std::unique_ptr<budgeted_source> budgeted_;  ///< In front of it where there are prices.
  std::map<pool::item_id, flight> flying_;
  prefix::planning told_planning_ = prefix::planning::whole;
  std::set<std::string> told_dropped_;
  run_record record_;
  std::optional<error> store_failure_;  ///< It takes no more.
  std::string kept_limits_;             ///< As the store has them.
  summary summary_;
  tally tally_{summary_};
  ledger ledger_{summary_};
  progress progress_;
  steady_clock::time_point started_ = steady_clock::now();
};

}  // namespace

result<summary> run_suite(const suite& what, net::loop& owner,
                          const std::vector<backend::backend*>& endpoints, store& into,
                          const run_options& how, const observer& watch, const std::stop_token& stop) {
  return runner(what, owner, endpoints, into, how, watch, stop).run();
}

}  // namespace evalcore::run
