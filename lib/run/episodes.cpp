#include <evalcore/run/episodes.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/pool/pool.hpp>

#include "run/episode_turns.hpp"

namespace evalcore::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How often committed replies are flushed to the disk.
constexpr auto sync_interval = milliseconds(200);

error misuse(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

error unknown(episode_number which) {
  return fail(errc::not_found, stage::config,
              "there is no episode " + std::to_string(which) + " under way; it is over or never began");
}

/// Slots count where the cache is per slot; with several endpoints it is not known here which a request
/// meets.
episode_places places_of(const std::vector<backend::backend*>& endpoints, const pool::options& how) {
  const auto each = how.adaptive ? how.highest_tried : how.max_in_flight;
  const auto& first = *endpoints.front();
  const auto can = first.can();
  const auto slots = first.about().slots;
  if (endpoints.size() > 1 || can.slot_pinning != backend::ability::yes || !slots) {
    return {.bound = each * static_cast<std::uint32_t>(endpoints.size())};
  }
  return {
      .bound = std::min(each, *slots), .slots = true, .can_share = can.share_prefix == backend::ability::yes};
}

}  // namespace

/// One lock around the turns, which the loop never waits for: it has the source and the pool.
class episodes::impl {
 public:
  impl(net::loop& owner, const std::vector<backend::backend*>& endpoints, store& into, episode_store kept,
       const episode_options& how)
      : store_(into),
        source_(places_of(endpoints, how.pool)),
        pool_(owner, endpoints, source_, how.pool),
        turns_(*endpoints.front(), into, std::move(kept), how, source_, pool_) {}

  result<void> start() {
    if (auto begun = turns_.begin_run(); !begun) return begun;
    pool_.start();
    return {};
  }

  result<episode_number> begin(const std::string& id, chat::request first, std::uint32_t epoch) {
    const std::lock_guard lock(mutex_);
    if (closed_) return *closed_;
    return kept(turns_.begin(id, std::move(first), epoch));
  }

  template <class Next>
  result<void> next(episode_number which, const Next& request_after) {
    const std::lock_guard lock(mutex_);
    auto found = find(which);
    if (!found) return std::move(found).error();
    auto& one = **found;
    if (one.now != state::waits) {
      return misuse("episode " + one.record.id +
                    (one.now == state::out ? " waits for a reply; next() comes after it"
                                           : " was stopped; end() or cancel() it"));
    }
    return kept(turns_.go_on(which, one, request_after(one)));
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
    const auto& one = **found;
    if (one.now == state::out) {
      return misuse("a request of episode " + one.record.id + " is out; wait for its reply or cancel() it");
    }
    if (!outcome_json.empty() && !json::parse(outcome_json)) {
      return misuse("the outcome of episode " + one.record.id + " is no JSON");
    }
    return kept(turns_.let_go(which, {one.now == state::over ? one.why : episode_end::done, outcome_json}));
  }

  result<void> cancel(episode_number which) {
    const std::lock_guard lock(mutex_);
    auto found = find(which);
    if (!found) return std::move(found).error();
    return kept(turns_.cancel(which, **found));
  }

  result<std::optional<episode_event>> poll(milliseconds timeout) {
    const auto until = steady_clock::now() + std::clamp(timeout, milliseconds(0), longest);
    std::unique_lock lock(mutex_);
    for (bool last_look = false;;) {
      if (closed_) return *closed_;
      const auto now = steady_clock::now();
      if (auto done = kept(look_after(now)); !done) return std::move(done).error();
      if (auto event = turns_.take_event()) return event;
      if (std::exchange(woken_, false) || last_look) return std::optional<episode_event>();
      last_look = now >= until;
      const auto look = std::min({until, now + sync_interval, turns_.next_deadline().value_or(until)});
      const auto pause = std::chrono::ceil<milliseconds>(look - now);
      lock.unlock();
      auto event = pool_.poll(std::max(pause, milliseconds(0)));
      lock.lock();
      if (!event) continue;
      last_look = false;
      if (auto handled = kept(turns_.handle(*event)); !handled) return std::move(handled).error();
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
    return turns_.running();
  }

  result<episode_use> use_of(episode_number which) {
    const std::lock_guard lock(mutex_);
    auto found = find(which);
    return found ? result<episode_use>((*found)->budget.use()) : std::move(found).error();
  }

  result<episode_figures> finish() {
    const std::lock_guard lock(mutex_);
    if (closed_) return *closed_;
    turns_.finishing();
    pool_.cancel_all();
    while (!turns_.drained()) {
      auto event = pool_.poll(longest);
      if (!event) continue;
      if (auto handled = kept(turns_.handle(*event)); !handled) return std::move(handled).error();
    }
    closed_ = fail(errc::closed, stage::config, "the run of episodes is finished; open another");
    return turns_.end_run(seconds(steady_clock::now() - began_));
  }

 private:
  using state = episode_live::state;
  static constexpr milliseconds longest = std::chrono::hours(24);

  result<episode_live*> find(episode_number which) {
    if (closed_) return *closed_;
    auto* found = turns_.find(which);
    return found != nullptr ? result<episode_live*>(found) : unknown(which);
  }

  /// What the store refused to keep is lost: nothing is sent any more.
  template <class T>
  result<T> kept(result<T> outcome) {
    if (!outcome && outcome.error().at == stage::store) {
      closed_ = outcome.error();
      pool_.cancel_all();
    }
    return outcome;
  }

  result<void> look_after(instant now) {
    if (now - synced_ >= sync_interval) {
      synced_ = now;
      if (auto done = store_.sync(); !done) return done;
    }
    return turns_.end_late_ones(now);
  }

  store& store_;
  mutable std::mutex mutex_;
  instant began_ = steady_clock::now();
  instant synced_ = began_;
  bool woken_ = false;
  std::optional<error> closed_;  ///< Why nothing is done any more.

  episode_source source_;
  pool::pool pool_;
  episode_turns turns_;  ///< Speaks of the pool, which speaks of the source.
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
  auto state = std::make_unique<impl>(owner, endpoints, into, *std::move(kept), how);
  if (auto started = state->start(); !started) return std::move(started).error();
  return std::unique_ptr<episodes>(new episodes(std::move(state)));
}

result<episode_number> episodes::begin(const std::string& id, chat::request first, std::uint32_t epoch) {
  return impl_->begin(id, std::move(first), epoch);
}
result<void> episodes::next(episode_number which, std::vector<chat::message> turns) {
  return impl_->next(which, [&](const episode_live& one) {
    return chat::continued(one.request, one.reply, std::move(turns));
  });
}
result<void> episodes::next(episode_number which, chat::request whole) {
  return impl_->next(which, [&](const episode_live& /*one*/) { return std::move(whole); });
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
