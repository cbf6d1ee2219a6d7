#include "run/episode_turns.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <evalcore/backend/probe.hpp>
#include <evalcore/base/json.hpp>
#include <evalcore/run/ids.hpp>

#include "run/episode_figures.hpp"
#include "run/episode_keys.hpp"
#include "run/episode_request.hpp"

namespace evalcore::run {
namespace {

using std::chrono::steady_clock;

episode_event event_of(episode_number which, const episode_record& record, episode_event::kind what,
                       std::size_t turn) {
  episode_event event;
  event.what = what;
  event.episode = which;
  event.id = record.id;
  event.epoch = record.epoch;
  event.turn = static_cast<std::uint32_t>(turn);
  return event;
}

/// Of the next prompt, as the last turn tells; 0: unknown.
std::uint64_t known_tokens(const chat::usage& last) {
  return last.prompt_tokens.value_or(0) + last.completion_tokens.value_or(0);
}

}  // namespace

episode_turns::episode_turns(backend::backend& to, store& into, episode_store kept,
                             const episode_options& how, episode_source& source, pool::pool& pool)
    : backend_(to),
      identity_(to.about().identity),
      store_(into),
      kept_(std::move(kept)),
      how_(how),
      suite_hash_(suite_hash_of(how_.suite)),
      source_(source),
      pool_(pool) {}

result<void> episode_turns::begin_run() {
  run_record run;
  run_id_ = run.run_id = new_run_id();
  run.suite_path = how_.suite;
  run.suite_hash = suite_hash_;
  run.identity = identity_;
  run.options_json = how_.options_json;
  run.plan_json = "{}";
  run.started_unix_ms = unix_ms_now();
  run.probe_json = json::to_text(backend::to_json(backend::facts_of(backend_)));
  return store_.begin_run(run);
}

result<episode_figures> episode_turns::end_run(double wall_s) {
  figures_.left = live_.size() - given_up();
  figures_.wall_s = wall_s;
  auto twice = store_.possibly_paid_twice();
  if (!twice) return std::move(twice).error();
  figures_.possibly_paid_twice = *twice;
  if (auto done = store_.finish_run(run_id_, to_json(figures_)); !done) return std::move(done).error();
  if (auto synced = store_.sync(); !synced) return std::move(synced).error();
  return figures_;
}

// What the host does.

result<episode_number> episode_turns::begin(const std::string& id, chat::request first, std::uint32_t epoch) {
  auto record = episode_of(suite_hash_, id, epoch, identity_, first.model);
  if (under_way_.contains(record.key)) {
    return fail(errc::invalid_argument, stage::config,
                "episode " + id + " is under way already; end it first, or give another epoch");
  }
  if (auto takes = backend_.check(first); !takes) return std::move(takes).error();
  auto stored = kept_.turns_of(record);
  if (!stored) return std::move(stored).error();
  auto end = kept_.end_of(record);
  if (!end) return std::move(end).error();

  const auto number = ++last_number_;
  figures_.begun += 1;
  const bool done = *end && (*end)->why == episode_end::done && !stored->empty();
  if (done && stored->front().item.cache_key == turn_of(record, 1, identity_, first).cache_key) {
    finished_before(number, record, stored->size(), **std::move(end));
    return number;
  }
  under_way_.insert(record.key);
  episode_live made{std::move(record), episode_budget(how_.limits), *std::move(stored)};
  auto& one = live_.try_emplace(number, std::move(made)).first->second;
  auto added = all_of(first);
  auto taken = take_turn(number, one, std::move(first), std::move(added));
  return taken ? result<episode_number>(number) : std::move(taken).error();
}

episode_live* episode_turns::find(episode_number which) {
  const auto found = live_.find(which);
  return found == live_.end() || found->second.given_up() ? nullptr : &found->second;
}

result<void> episode_turns::go_on(episode_number which, episode_live& one, chat::request request) {
  if (auto takes = backend_.check(request); !takes) return takes;
  auto added = added_to(one.request, one.reply, request);
  return take_turn(which, one, std::move(request), std::move(added));
}

result<void> episode_turns::let_go(episode_number which, const stored_end& end) {
  const auto gone = live_.extract(which);
  const auto& one = gone.mapped();
  items_.erase(one.item);
  under_way_.erase(one.record.key);
  figures_.ended[end.why] += 1;
  free_place(which);
  return kept_.put_end(run_id_, one.record, end);
}

result<void> episode_turns::cancel(episode_number which, episode_live& one) {
  std::erase_if(events_, [&](const episode_event& event) { return event.episode == which; });
  if (one.now == state::over) return let_go(which, {one.why, ""});
  if (one.now == state::waits || source_.withdraw(which)) return let_go(which, {episode_end::cancelled, ""});
  one.cancelled = episode_end::cancelled;
  pool_.cancel(one.item);
  return {};
}

// Turns.

result<void> episode_turns::take_turn(episode_number which, episode_live& one, chat::request request,
                                      std::string added) {
  if (drained_) return stop(which, one, episode_end::errored, drained_);
  if (const auto limit = one.budget.met(steady_clock::now())) return stop(which, one, *limit, {});
  const auto number = one.turn.turn + 1;
  one.turn = {number, turn_of(one.record, number, identity_, request), std::move(added)};
  one.request = std::move(request);
  auto stored = number > one.stored.size() ? result<std::optional<stored_reply>>(std::nullopt)
                                           : store_.find(one.turn.item);
  if (!stored) return std::move(stored).error();
  switch (answer_of(one.stored, one.turn, stored->has_value())) {
    case turn_answer::stored:
      figures_.reused += 1;
      replied(which, one, std::move((*stored)->reply), true);
      return {};
    case turn_answer::diverged:
      if (auto dropped = drop_stored(which, one); !dropped) return dropped;
      break;
    case turn_answer::send:
      break;
  }
  send(which, one);
  return {};
}

result<void> episode_turns::drop_stored(episode_number which, episode_live& one) {
  const auto turn = one.turn.turn;
  if (auto dropped = kept_.drop_from(one.record, turn); !dropped) return dropped;
  auto event = event_of(which, one.record, episode_event::kind::diverged, turn);
  event.dropped = one.stored.size() - (turn - 1);
  figures_.diverged += 1;
  tell(std::move(event));
  one.stored.resize(turn - 1);
  return {};
}

void episode_turns::send(episode_number which, episode_live& one) {
  one.now = state::out;
  one.item = ++last_item_;
  one.attempt = {};
  one.failed = false;
  items_.emplace(one.item, which);
  source_.offer(which, {one.item, one.request, which, known_tokens(one.reply.usage)}, !one.stored.empty(),
                family_of(one.request));
  pool_.look_again();
}

void episode_turns::replied(episode_number which, episode_live& one, chat::reply&& reply, bool reused) {
  one.budget.replied(reply.usage);
  one.now = state::waits;
  one.reply = std::move(reply);
  auto event = event_of(which, one.record, episode_event::kind::replied, one.turn.turn);
  event.reply = one.reply;
  event.reused = reused;
  tell(std::move(event));
}

/// There is no further turn: the host hears why.
result<void> episode_turns::stop(episode_number which, episode_live& one, episode_end why,
                                 std::optional<error> failure) {
  one.now = state::over;
  one.why = why;
  free_place(which);
  if (auto kept = kept_.put_end(run_id_, one.record, {why, ""}); !kept) return kept;
  auto event = event_of(which, one.record, episode_event::kind::stopped, one.turn.turn);
  event.why = why;
  event.failure = std::move(failure);
  tell(std::move(event));
  return {};
}

void episode_turns::free_place(episode_number which) {
  source_.end(which);
  pool_.look_again();
}

// What the host hears.

void episode_turns::finished_before(episode_number which, const episode_record& record, std::size_t turns,
                                    stored_end end) {
  figures_.finished_before += 1;
  figures_.ended[episode_end::done] += 1;
  auto event = event_of(which, record, episode_event::kind::finished, turns);
  event.outcome_json = std::move(end.outcome_json);
  tell(std::move(event));
}

void episode_turns::tell(episode_event&& event) {
  events_.push_back(std::move(event));
  pool_.wake();
}

std::optional<episode_event> episode_turns::take_event() {
  if (events_.empty()) return std::nullopt;
  auto event = std::move(events_.front());
  events_.pop_front();
  return event;
}

std::size_t episode_turns::given_up() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(live_, [](const auto& one) { return one.second.given_up(); }));
}

std::size_t episode_turns::running() const {
  const auto untold = std::ranges::count(events_, episode_event::kind::finished, &episode_event::what);
  return live_.size() - given_up() + static_cast<std::size_t>(untold);
}

// What the clock and the pool say.

result<void> episode_turns::end_late_ones(instant now) {
  if (!how_.limits.time) return {};
  for (auto& [which, one] : live_) {
    if (one.now != state::out || one.cancelled) continue;
    const auto over = one.budget.deadline();
    if (!over || *over > now) continue;
    if (source_.withdraw(which)) {
      items_.erase(one.item);
      if (auto stopped = stop(which, one, episode_end::time, {}); !stopped) return stopped;
    } else {
      one.cancelled = episode_end::time;
      pool_.cancel(one.item);
    }
  }
  return {};
}

std::optional<instant> episode_turns::next_deadline() const {
  std::optional<instant> next;
  if (!how_.limits.time) return next;
  for (const auto& [which, one] : live_) {
    if (one.now != state::out || one.cancelled) continue;
    const auto over = one.budget.deadline();
    if (over && (!next || *over < *next)) next = over;
  }
  return next;
}

result<void> episode_turns::handle(pool::event& event) {
  if (event.what == pool::event::kind::drained) return drained(event);
  if (event.what == pool::event::kind::first_token) return {};
  const auto found = items_.find(event.id);
  if (found == items_.end()) return {};
  const auto which = found->second;
  auto& one = live_.at(which);
  if (event.what == pool::event::kind::started) return started(which, one, event);
  if (event.what == pool::event::kind::retrying) {
    one.failed = true;
    one.attempt.failure = event.outcome->error();
    return store_.put_failure(one.turn.item, one.attempt);
  }
  items_.erase(found);
  return ended(which, one, event);
}

result<void> episode_turns::started(episode_number which, episode_live& one, const pool::event& event) {
  figures_.sent += 1;
  one.failed = false;
  one.attempt.failure.reset();
  one.attempt.started_unix_ms = unix_ms_now();
  if (event.attempt > 1) {
    figures_.retried += 1;
  } else {
    one.attempt.slot = source_.slot_of(which);
    one.budget.sent(steady_clock::now());
    if (auto kept = kept_.put_turn(run_id_, one.record, one.turn); !kept) return kept;
  }
  auto begun = store_.begin_attempt(one.turn.item, one.attempt);
  return begun ? result<void>{} : std::move(begun).error();
}

result<void> episode_turns::ended(episode_number which, episode_live& one, pool::event& event) {
  auto& outcome = *event.outcome;
  if (outcome) {
    if (auto kept = store_.put_reply(one.turn.item, one.attempt, *outcome); !kept) return kept;
    count(figures_, outcome->usage);
  } else if (event.attempt > 0 && !one.failed) {
    one.attempt.failure = outcome.error();
    if (auto kept = store_.put_failure(one.turn.item, one.attempt); !kept) return kept;
  }
  if (one.given_up()) return let_go(which, {episode_end::cancelled, ""});
  if (finishing_) return {};
  if (one.cancelled) {
    if (outcome) one.budget.replied(outcome->usage);
    return stop(which, one, *one.cancelled, {});
  }
  if (outcome) {
    replied(which, one, *std::move(outcome), false);
    return {};
  }
  const bool too_long = outcome.error().code == errc::context_overflow;
  return stop(which, one, too_long ? episode_end::context : episode_end::errored, std::move(outcome).error());
}

/// The pool sends nothing more: by the host's wish, or as no endpoint is left or its own limits are met.
result<void> episode_turns::drained(pool::event& event) {
  drained_ = event.outcome && !*event.outcome
                 ? std::move(*event.outcome).error()
                 : fail(errc::cancelled, stage::none, "the requests were cancelled");
  if (finishing_) return {};
  for (auto& [which, one] : live_) {
    if (one.now != state::out) continue;
    items_.erase(one.item);
    if (auto stopped = stop(which, one, episode_end::errored, drained_); !stopped) return stopped;
  }
  return {};
}

}  // namespace evalcore::run
