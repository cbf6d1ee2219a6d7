#include <evalcore/run/episodes.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include <evalcore/backend/probe.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/pool/pool.hpp>
#include <evalcore/run/ids.hpp>

#include "run/episode_figures.hpp"
#include "run/episode_keys.hpp"
#include "run/episode_live.hpp"
#include "run/episode_request.hpp"
#include "run/episode_source.hpp"
#include "run/episode_store.hpp"

namespace evalcore::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How often committed replies are flushed to the disk.
constexpr auto sync_interval = milliseconds(200);

error misuse(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

/// Slots are the backend's where its cache is per slot; which endpoint a request meets is not known here.
std::optional<std::uint32_t> slots_of(const std::vector<backend::backend*>& endpoints) {
  const auto& first = *endpoints.front();
  if (endpoints.size() > 1 || first.can().slot_pinning != backend::ability::yes) return std::nullopt;
  return first.about().slots;
}

std::uint32_t bound_of(const std::vector<backend::backend*>& endpoints, const pool::options& how) {
  const auto each = how.adaptive ? how.highest_tried : how.max_in_flight;
  if (const auto slots = slots_of(endpoints)) return std::min(each, *slots);
  return each * static_cast<std::uint32_t>(endpoints.size());
}

}  // namespace

/// Everything but the source's next() runs on the host's threads, under one lock.
class episodes::impl {
 public:
  impl(net::loop& owner, const std::vector<backend::backend*>& endpoints, store& into, episode_store kept,
       episode_options how)
      : backend_(*endpoints.front()),
        identity_(backend_.about().identity),
        store_(into),
        kept_(std::move(kept)),
        how_(std::move(how)),
        suite_hash_(suite_hash_of(how_.suite)),
        source_(bound_of(endpoints, how_.pool), slots_of(endpoints).has_value()),
        pool_(owner, endpoints, source_, how_.pool) {}

  result<void> start() {
    run_record run;
    run_id_ = run.run_id = new_run_id();
    run.suite_path = how_.suite;
    run.suite_hash = suite_hash_;
    run.identity = identity_;
    run.options_json = how_.options_json;
    run.plan_json = "{}";
    run.started_unix_ms = unix_ms_now();
    run.probe_json = json::to_text(backend::to_json(backend::facts_of(backend_)));
    if (auto begun = store_.begin_run(run); !begun) return begun;
    pool_.start();
    return {};
  }

  result<episode_number> begin(const std::string& id, chat::request first, std::uint32_t epoch) {
    const std::lock_guard lock(mutex_);
    if (auto open = usable(); !open) return std::move(open).error();
    auto record = episode_of(suite_hash_, id, epoch, identity_, first.model);
    if (under_way_.contains(record.key)) {
      return misuse("episode " + id + " is under way already; end it first, or give another epoch");
    }
    if (auto takes = backend_.check(first); !takes) return std::move(takes).error();
    auto stored = kept_.turns_of(record);
    if (!stored) return broken(std::move(stored).error());
    auto end = kept_.end_of(record);
    if (!end) return broken(std::move(end).error());

    const auto number = ++last_number_;
    figures_.begun += 1;
    if (*end && (*end)->why == episode_end::done && !stored->empty() &&
        stored->front().item.cache_key == turn_of(record, 1, identity_, first).cache_key) {
      figures_.finished_before += 1;
      figures_.ended[episode_end::done] += 1;
      auto event = event_of(number, record, episode_event::kind::finished);
      event.turn = static_cast<std::uint32_t>(stored->size());
      event.outcome_json = std::move((*end)->outcome_json);
      tell(std::move(event));
      return number;
    }
    under_way_.insert(record.key);
    auto& one = live_
                    .try_emplace(number, episode_live{std::move(record), episode_budget(how_.limits),
                                                      *std::move(stored)})
                    .first->second;
    auto added = all_of(first);
    auto taken = take_turn(number, one, std::move(first), std::move(added));
    return taken ? result<episode_number>(number) : std::move(taken).error();
  }

  result<void> next(episode_number which, std::vector<chat::message> turns) {
    const std::lock_guard lock(mutex_);
    auto found = waiting(which);
    if (!found) return std::move(found).error();
    return go_on(which, **found, chat::continued((*found)->request, (*found)->reply, std::move(turns)));
  }

  result<void> next(episode_number which, chat::request whole) {
    const std::lock_guard lock(mutex_);
    auto found = waiting(which);
    return found ? go_on(which, **found, std::move(whole)) : std::move(found).error();
  }

  result<void> add_cost(episode_number which, double cost) {
    const std::lock_guard lock(mutex_);
    auto found = find(which);
    if (!found) return std::move(found).error();
    (*found)->budget.spent(cost);
    return {};
  }

  result<void> end(episode_number which, const std::string& outcome_json) {
    const std::lock_guard lock(mutex_);
    auto found = find(which);
    if (!found) return std::move(found).error();
    auto& one = **found;
    if (one.now == episode_live::state::out) {
      return misuse("a request of episode " + one.record.id + " is out; wait for its reply or cancel() it");
    }
    if (!outcome_json.empty() && !json::parse(outcome_json)) {
      return misuse("the outcome of episode " + one.record.id + " is no JSON");
    }
    const auto why = one.now == episode_live::state::over ? one.why : episode_end::done;
    return let_go(which, {why, outcome_json});
  }

  result<void> cancel(episode_number which) {
    const std::lock_guard lock(mutex_);
    auto found = find(which);
    if (!found) return std::move(found).error();
    auto& one = **found;
    std::erase_if(events_, [&](const episode_event& event) { return event.episode == which; });
    if (one.now == episode_live::state::over) return let_go(which, {one.why, ""});
    if (one.now == episode_live::state::waits || source_.withdraw(which)) {
      return let_go(which, {episode_end::cancelled, ""});
    }
    one.cancelled = episode_end::cancelled;
    pool_.cancel(one.item);
    return {};
  }

  result<std::optional<episode_event>> poll(milliseconds timeout) {
    const auto until = steady_clock::now() + std::clamp(timeout, milliseconds(0), longest);
    std::unique_lock lock(mutex_);
    for (bool last_look = false;;) {
      if (auto open = usable(); !open) return std::move(open).error();
      auto now = steady_clock::now();
      if (auto done = look_after(now); !done) return broken(std::move(done).error());
      if (!events_.empty()) {
        auto event = std::move(events_.front());
        events_.pop_front();
        return std::optional(std::move(event));
      }
      if (std::exchange(woken_, false) || last_look) return std::optional<episode_event>();
      last_look = now >= until;
      const auto pause = std::chrono::ceil<milliseconds>(std::min(until, next_look(now)) - now);
      lock.unlock();
      auto event = pool_.poll(std::max(pause, milliseconds(0)));
      lock.lock();
      if (!event) continue;
      last_look = false;
      if (auto handled = handle(*event); !handled) return broken(std::move(handled).error());
    }
  }

  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    pool_.wake();
  }

  std::size_t running() const {
    const std::lock_guard lock(mutex_);
    const auto untold = std::ranges::count(events_, episode_event::kind::finished, &episode_event::what);
    return live_.size() - given_up_out() + static_cast<std::size_t>(untold);
  }

  result<episode_use> use_of(episode_number which) const {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(which);
    if (found == live_.end() || found->second.given_up()) return unknown(which);
    return found->second.budget.use();
  }

  result<episode_figures> finish() {
    const std::lock_guard lock(mutex_);
    if (auto open = usable(); !open) return std::move(open).error();
    finishing_ = true;
    pool_.cancel_all();
    while (!drained_) {
      auto event = pool_.poll(longest);
      if (!event) continue;
      if (auto handled = handle(*event); !handled) return broken(std::move(handled).error());
    }
    closed_ = fail(errc::closed, stage::store, "the run of episodes is finished; open another");
    figures_.left = live_.size() - given_up_out();
    figures_.wall_s = seconds(steady_clock::now() - began_);
    auto twice = store_.possibly_paid_twice();
    if (!twice) return std::move(twice).error();
    figures_.possibly_paid_twice = *twice;
    if (auto done = store_.finish_run(run_id_, to_json(figures_)); !done) return std::move(done).error();
    if (auto synced = store_.sync(); !synced) return std::move(synced).error();
    return figures_;
  }

 private:
  using state = episode_live::state;
  static constexpr milliseconds longest = std::chrono::hours(24);

  // What the host may do.

  [[nodiscard]] result<void> usable() const { return closed_ ? result<void>(*closed_) : result<void>(); }

  static error unknown(episode_number which) {
    return fail(errc::not_found, stage::config,
                "there is no episode " + std::to_string(which) + " under way; it is over or never began");
  }

  result<episode_live*> find(episode_number which) {
    if (auto open = usable(); !open) return std::move(open).error();
    const auto found = live_.find(which);
    if (found == live_.end() || found->second.given_up()) return unknown(which);
    return &found->second;
  }

  result<episode_live*> waiting(episode_number which) {
    auto found = find(which);
    if (!found || (*found)->now == state::waits) return found;
    return misuse("episode " + (*found)->record.id +
                  ((*found)->now == state::out ? " waits for a reply; next() comes after it"
                                               : " was stopped; end() or cancel() it"));
  }

  /// After this nothing is sent and nothing is stored.
  error broken(error why) {
    closed_ = why;
    pool_.cancel_all();
    return why;
  }

  // Turns.

  result<void> go_on(episode_number which, episode_live& one, chat::request request) {
    if (auto takes = backend_.check(request); !takes) return takes;
    auto added = added_to(one.request, one.reply, request);
    return take_turn(which, one, std::move(request), std::move(added));
  }

  /// The episode's next turn: refused by a limit, answered by the store, or sent.
  result<void> take_turn(episode_number which, episode_live& one, chat::request request, std::string added) {
    if (drained_) return give_up(which, one, episode_end::errored, drained_);
    if (const auto limit = one.budget.met(steady_clock::now())) return give_up(which, one, *limit, {});
    const auto number = one.turn.turn + 1;
    one.turn = {number, turn_of(one.record, number, identity_, request), std::move(added)};
    one.request = std::move(request);
    auto stored = number > one.stored.size() ? result<std::optional<stored_reply>>(std::nullopt)
                                             : store_.find(one.turn.item);
    if (!stored) return broken(std::move(stored).error());
    switch (answer_of(one.stored, one.turn, stored->has_value())) {
      case turn_answer::stored:
        figures_.reused += 1;
        replied(which, one, std::move((*stored)->reply), true);
        return {};
      case turn_answer::diverged:
        if (auto dropped = drop_stored(which, one); !dropped) return broken(std::move(dropped).error());
        break;
      case turn_answer::send:
        break;
    }
    one.now = state::out;
    one.item = ++last_item_;
    one.attempt = {};
    one.failed = false;
    items_.emplace(one.item, which);
    source_.offer(which, {one.item, one.request, which, known_tokens(one)}, !one.stored.empty());
    pool_.look_again();
    return {};
  }

  result<void> drop_stored(episode_number which, episode_live& one) {
    const auto turn = one.turn.turn;
    if (auto dropped = kept_.drop_from(one.record, turn); !dropped) return dropped;
    auto event = event_of(which, one.record, episode_event::kind::diverged);
    event.turn = turn;
    event.dropped = one.stored.size() - (turn - 1);
    figures_.diverged += 1;
    tell(std::move(event));
    one.stored.resize(turn - 1);
    return {};
  }

  /// Of the prompt, as the turn before tells; 0: unknown.
  static std::uint64_t known_tokens(const episode_live& one) {
    const auto& usage = one.reply.usage;
    return usage.prompt_tokens.value_or(0) + usage.completion_tokens.value_or(0);
  }

  void replied(episode_number which, episode_live& one, chat::reply&& reply, bool reused) {
    one.budget.replied(reply.usage);
    one.now = state::waits;
    one.reply = std::move(reply);
    auto event = event_of(which, one.record, episode_event::kind::replied);
    event.turn = one.turn.turn;
    event.reply = one.reply;
    event.reused = reused;
    tell(std::move(event));
  }

  /// There is no further turn: the host hears why.
  result<void> give_up(episode_number which, episode_live& one, episode_end why,
                       std::optional<error> failure) {
    one.now = state::over;
    one.why = why;
    source_.end(which);
    pool_.look_again();
    if (auto kept = kept_.put_end(run_id_, one.record, {why, ""}); !kept) {
      return broken(std::move(kept).error());
    }
    auto event = event_of(which, one.record, episode_event::kind::stopped);
    event.turn = one.turn.turn;
    event.why = why;
    event.failure = std::move(failure);
    tell(std::move(event));
    return {};
  }

  /// The last of it: its place is free and the store knows how it ended.
  result<void> let_go(episode_number which, const stored_end& end) {
    auto gone = live_.extract(which);
    const auto& one = gone.mapped();
    items_.erase(one.item);
    under_way_.erase(one.record.key);
    figures_.ended[end.why] += 1;
    source_.end(which);
    pool_.look_again();
    auto kept = kept_.put_end(run_id_, one.record, end);
    return kept ? kept : broken(std::move(kept).error());
  }

  static episode_event event_of(episode_number which, const episode_record& record,
                                episode_event::kind what) {
    episode_event event;
    event.what = what;
    event.episode = which;
    event.id = record.id;
    event.epoch = record.epoch;
    return event;
  }

  void tell(episode_event&& event) {
    events_.push_back(std::move(event));
    pool_.wake();
  }

  // What the clock and the pool say.

  /// Flushes the store, and ends requests whose episode has no time left.
  result<void> look_after(instant now) {
    if (now - synced_ >= sync_interval) {
      synced_ = now;
      if (auto done = store_.sync(); !done) return done;
    }
    if (!how_.limits.time) return {};
    for (auto& [which, one] : live_) {
      if (one.now != state::out || one.cancelled) continue;
      const auto over = one.budget.deadline();
      if (!over || *over > now) continue;
      if (source_.withdraw(which)) {
        items_.erase(one.item);
        if (auto stopped = give_up(which, one, episode_end::time, {}); !stopped) return stopped;
      } else {
        one.cancelled = episode_end::time;
        pool_.cancel(one.item);
      }
    }
    return {};
  }

  instant next_look(instant now) const {
    auto next = now + sync_interval;
    if (!how_.limits.time) return next;
    for (const auto& [which, one] : live_) {
      if (one.now != state::out || one.cancelled) continue;
      if (const auto over = one.budget.deadline()) next = std::min(next, *over);
    }
    return next;
  }

  result<void> handle(pool::event& event) {
    if (event.what == pool::event::kind::drained) return drained(event);
    if (event.what == pool::event::kind::first_token) return {};
    const auto found = items_.find(event.id);
    if (found == items_.end()) return {};
    const auto which = found->second;
    auto& one = live_.at(which);
    switch (event.what) {
      case pool::event::kind::started:
        return started(one, event);
      case pool::event::kind::retrying:
        one.failed = true;
        one.attempt.failure = event.outcome->error();
        return store_.put_failure(one.turn.item, one.attempt);
      default:
        items_.erase(found);
        return ended(which, one, event);
    }
  }

  result<void> started(episode_live& one, const pool::event& event) {
    figures_.sent += 1;
    one.failed = false;
    one.attempt.failure.reset();
    one.attempt.started_unix_ms = unix_ms_now();
    if (event.attempt > 1) {
      figures_.retried += 1;
    } else {
      one.attempt.slot = source_.take_slot(event.id);
      one.budget.sent(steady_clock::now());
      if (auto kept = kept_.put_turn(run_id_, one.record, one.turn); !kept) return kept;
    }
    return store_.begin_attempt(one.turn.item, one.attempt);
  }

  result<void> ended(episode_number which, episode_live& one, pool::event& event) {
    auto& outcome = *event.outcome;
    if (outcome) {
      if (auto kept = store_.put_reply(one.turn.item, one.attempt, *outcome); !kept) return kept;
      count(figures_, outcome->usage);
    } else if (event.attempt > 0 && !one.failed) {
      one.attempt.failure = outcome.error();
      if (auto kept = store_.put_failure(one.turn.item, one.attempt); !kept) return kept;
    }
    if (finishing_) {
      one.now = state::waits;
      return {};
    }
    if (one.given_up()) return let_go(which, {episode_end::cancelled, ""});
    if (one.cancelled) {
      if (outcome) one.budget.replied(outcome->usage);
      return give_up(which, one, *one.cancelled, {});
    }
    if (outcome) {
      replied(which, one, *std::move(outcome), false);
      return {};
    }
    const bool too_long = outcome.error().code == errc::context_overflow;
    return give_up(which, one, too_long ? episode_end::context : episode_end::errored,
                   std::move(outcome).error());
  }

  /// The pool sends nothing more: by the host's wish, or as no endpoint is left or its own limits are met.
  result<void> drained(pool::event& event) {
    drained_ = event.outcome && !*event.outcome
                   ? std::move(*event.outcome).error()
                   : fail(errc::cancelled, stage::none, "the requests were cancelled");
    if (finishing_) return {};
    for (auto& [which, one] : live_) {
      if (one.now != state::out) continue;
      items_.erase(one.item);
      if (auto stopped = give_up(which, one, episode_end::errored, drained_); !stopped) return stopped;
    }
    return {};
  }

  [[nodiscard]] std::size_t given_up_out() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(live_, [](const auto& one) { return one.second.given_up(); }));
  }

  backend::backend& backend_;  ///< The first endpoint, which speaks for all.
  std::map<std::string, std::string> identity_;
  store& store_;
  episode_store kept_;
  episode_options how_;
  std::string suite_hash_;
  std::string run_id_;

  mutable std::mutex mutex_;
  std::map<episode_number, episode_live> live_;
  std::set<std::string> under_way_;                          ///< Keys of those in live_.
  std::unordered_map<pool::item_id, episode_number> items_;  ///< Turns that are out.
  std::deque<episode_event> events_;
  episode_number last_number_ = 0;
  pool::item_id last_item_ = 0;
  episode_figures figures_;
  instant began_ = steady_clock::now();
  instant synced_ = began_;
  bool woken_ = false;
  bool finishing_ = false;
  std::optional<error> drained_;  ///< Why nothing more is sent.
  std::optional<error> closed_;   ///< Why nothing is done any more.

  episode_source source_;
  pool::pool pool_;  ///< Last, since it is the first to go.
};

episodes::episodes(std::unique_ptr<impl> state) : impl_(std::move(state)) {}
episodes::~episodes() = default;

result<std::unique_ptr<episodes>> episodes::open(net::loop& owner, std::vector<backend::backend*> endpoints,
                                                 store& into, episode_options how) {
  if (endpoints.empty()) return misuse("episodes need at least one endpoint");
  if (how.suite.empty())
    return misuse("episodes need the name of their suite, by which the store knows them");
  auto kept = episode_store::open(into);
  if (!kept) return std::move(kept).error();
  auto state = std::make_unique<impl>(owner, endpoints, into, *std::move(kept), std::move(how));
  if (auto started = state->start(); !started) return std::move(started).error();
  return std::unique_ptr<episodes>(new episodes(std::move(state)));
}

result<episode_number> episodes::begin(const std::string& id, chat::request first, std::uint32_t epoch) {
  return impl_->begin(id, std::move(first), epoch);
}
result<void> episodes::next(episode_number which, std::vector<chat::message> turns) {
  return impl_->next(which, std::move(turns));
}
result<void> episodes::next(episode_number which, chat::request whole) {
  return impl_->next(which, std::move(whole));
}
result<void> episodes::add_cost(episode_number which, double cost) { return impl_->add_cost(which, cost); }
result<void> episodes::end(episode_number which, const std::string& outcome_json) {
  return impl_->end(which, outcome_json);
}
result<void> episodes::cancel(episode_number which) { return impl_->cancel(which); }
result<std::optional<episode_event>> episodes::poll(milliseconds timeout) { return impl_->poll(timeout); }
void episodes::wake() { impl_->wake(); }
std::size_t episodes::running() const { return impl_->running(); }
result<episode_use> episodes::use_of(episode_number which) const { return impl_->use_of(which); }
result<episode_figures> episodes::finish() { return impl_->finish(); }

}  // namespace evalcore::run
