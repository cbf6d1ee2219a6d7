#include "episodes.hpp"

#include <chrono>
#include <random>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/base/signals_blocked.hpp>

#include "episodes_options.hpp"
#include "guard.hpp"
#include "inputs.hpp"
#include "queue_calls.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace json = evalcore::json;
namespace run = evalcore::run;
using evalcore::result;

namespace {

/// But for its ticket and tag.
capi::pool_event event_of(run::episode_event&& what) {
  using kind = run::episode_event::kind;
  json::object told{{"id", what.id}, {"epoch", std::uint64_t{what.epoch}}};
  capi::pool_event made;
  switch (what.what) {
    case kind::replied:
      made = std::make_unique<evc_event>(EVC_EVENT_REPLIED);
      made->reply = std::make_unique<evc_reply>(std::move(what.reply));
      told.emplace_back("turn", std::uint64_t{what.turn});
      told.emplace_back("reused", what.reused);
      break;
    case kind::diverged:
      made = std::make_unique<evc_event>(EVC_EVENT_DIVERGED);
      told.emplace_back("turn", std::uint64_t{what.turn});
      told.emplace_back("dropped", what.dropped);
      break;
    case kind::stopped:
      made = what.failure ? capi::failed_event(EVC_EVENT_STOPPED, *what.failure)
                          : std::make_unique<evc_event>(EVC_EVENT_STOPPED);
      told.emplace_back("why", run::name(what.why));
      break;
    case kind::finished: {
      made = std::make_unique<evc_event>(EVC_EVENT_FINISHED);
      auto outcome = json::parse(what.outcome_json);
      told.emplace_back("outcome", outcome ? *std::move(outcome) : json::value());
      break;
    }
  }
  made->json = json::to_text(told);
  return made;
}

}  // namespace

result<std::unique_ptr<evc_episodes>> evc_episodes::open(
    std::vector<std::shared_ptr<capi::shared_backend>> endpoints, const std::string& store,
    const run::episode_options& how) {
  auto file = run::store::open(store);
  if (!file) return std::move(file).error();
  std::unique_ptr<evc_episodes> made(new evc_episodes(std::move(endpoints), *std::move(file)));
  auto seeded = how;
  seeded.pool.seed = std::random_device{}();
  auto opened = run::episodes::open(made->endpoints_.front()->runtime->loop,
                                    capi::answering(made->endpoints_), made->store_, std::move(seeded));
  if (!opened) return std::move(opened).error();
  made->episodes_ = *std::move(opened);
  const evalcore::signals_blocked quiet;
  made->taking_ = std::jthread([self = made.get()](const std::stop_token& stop) { self->take_events(stop); });
  return made;
}

evc_episodes::~evc_episodes() { stop_taking(); }

void evc_episodes::stop_taking() {
  if (!taking_.joinable()) return;
  taking_.request_stop();
  episodes_->wake();
  taking_.join();
}

void evc_episodes::take_events(const std::stop_token& stop) noexcept {
  try {
    while (!stop.stop_requested()) {
      auto polled = episodes_->poll(std::chrono::hours(1));
      if (!polled) {
        events.push(capi::failed_event(EVC_EVENT_DRAINED, polled.error()), true);
        return;
      }
      if (*polled) pass_on(**std::move(polled));
    }
  } catch (...) {
    events.push(capi::failed_event(EVC_EVENT_DRAINED, capi::caught()), true);
  }
}

void evc_episodes::pass_on(run::episode_event&& what) {
  const auto episode = what.episode;
  const bool over = what.what == run::episode_event::kind::finished;
  auto made = event_of(std::move(what));
  made->ticket = episode;
  {
    const std::lock_guard held(mutex_);
    const auto found = tags_.find(episode);
    if (found == tags_.end()) return;  // The host has given it up.
    made->tag = found->second.tag;
    found->second.finished = over;
  }
  events.push(std::move(made));
}

result<std::uint64_t> evc_episodes::begin(const std::string& id, std::uint32_t epoch,
                                          const evc_request& first, std::uint64_t tag) {
  auto work = first.work();
  if (!work) return std::move(work).error();
  if (!work->scores.empty()) return capi::misuse("an episode begins with messages, not with a context");
  // Held until the tag is there, which its first event looks for.
  const std::lock_guard held(mutex_);
  const auto begun = episodes_->begin(id, std::move(work->request), epoch);
  if (!begun) return begun.error();
  episodes_->wake();  // What the store has of it can be told at once.
  tags_.insert_or_assign(*begun, known{tag});
  return *begun;
}

result<void> evc_episodes::end(std::uint64_t episode, const std::string& outcome) {
  if (auto ended = episodes_->end(episode, outcome); !ended) return ended;
  const std::lock_guard held(mutex_);
  tags_.erase(episode);
  return {};
}

result<void> evc_episodes::cancel(std::uint64_t episode) {
  if (auto given_up = episodes_->cancel(episode); !given_up) return given_up;
  const std::lock_guard held(mutex_);
  tags_.erase(episode);
  return {};
}

std::uint64_t evc_episodes::running() const {
  const std::lock_guard held(mutex_);
  return tags_.size();
}

capi::event_queue::outcome evc_episodes::take(std::int32_t timeout_ms, capi::pool_event& into) {
  const auto outcome = events.take(timeout_ms, into);
  if (into && into->kind == EVC_EVENT_FINISHED) {
    const std::lock_guard held(mutex_);
    tags_.erase(into->ticket);
  }
  return outcome;
}

result<std::string> evc_episodes::finish() {
  stop_taking();
  const auto figures = episodes_->finish();
  events.close();
  if (!figures) return figures.error();
  {
    const std::lock_guard held(mutex_);
    std::erase_if(tags_, [](const auto& one) { return !one.second.finished; });
  }
  return run::to_json(*figures);
}

// The functions.

namespace {

template <class Do>
evc_status with(const evc_episodes* of, evc_error** error, Do&& work) noexcept {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::check_usable(of); !good) return good;
    return work();
  });
}

auto on_events_of(evc_episodes* episodes) {
  return [episodes](auto&& work) { return with(episodes, nullptr, [&] { return work(episodes->events); }); };
}

}  // namespace

evc_status evc_episodes_open(evc_runtime* runtime, evc_backend* const* endpoints, size_t count, evc_str store,
                             const evc_episodes_options* options, evc_episodes** out,
                             evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    auto all = capi::endpoints_of(runtime, endpoints, count);
    if (!all) return std::move(all).error();
    const auto file = capi::read_text(store, "the path of the store");
    if (!file) return file.error();
    if (auto good = capi::check_live(options); !good) return good;
    auto opened = evc_episodes::open(*std::move(all), *file, options->how);
    if (!opened) return std::move(opened).error();
    *out = opened->release();
    return {};
  });
}

void evc_episodes_free(evc_episodes* episodes) EVC_NOEXCEPT { capi::free_in_its_process(episodes); }

evc_status evc_episodes_begin(evc_episodes* episodes, evc_str id, uint32_t epoch, const evc_request* first,
                              uint64_t tag, uint64_t* episode, evc_error** error) EVC_NOEXCEPT {
  return with(episodes, error, [&]() -> result<void> {
    if (auto good = capi::check_live(first); !good) return good;
    const auto name = capi::read_text(id, "the id of the episode");
    if (!name) return name.error();
    const auto begun = episodes->begin(*name, epoch, *first, tag);
    if (!begun) return begun.error();
    if (episode != nullptr) *episode = *begun;
    return {};
  });
}

evc_status evc_episodes_next(evc_episodes* episodes, uint64_t episode, const evc_request* turns,
                             evc_error** error) EVC_NOEXCEPT {
  return with(episodes, error, [&]() -> result<void> {
    if (auto good = capi::check_live(turns); !good) return good;
    return episodes->next(episode, turns->chat.messages);
  });
}

evc_status evc_episodes_next_whole(evc_episodes* episodes, uint64_t episode, const evc_request* whole,
                                   evc_error** error) EVC_NOEXCEPT {
  return with(episodes, error, [&]() -> result<void> {
    if (auto good = capi::check_live(whole); !good) return good;
    auto work = whole->work();
    if (!work) return std::move(work).error();
    if (!work->scores.empty()) return capi::misuse("an episode goes on with messages, not with a context");
    return episodes->next(episode, std::move(work->request));
  });
}

evc_status evc_episodes_add_cost(evc_episodes* episodes, uint64_t episode, double cost,
                                 evc_error** error) EVC_NOEXCEPT {
  return with(episodes, error, [&]() -> result<void> {
    constexpr double most = 1e300;
    if (!capi::in_range(cost, 0, most)) return capi::misuse("the cost is negative or not finite");
    return episodes->add_cost(episode, cost);
  });
}

evc_status evc_episodes_end(evc_episodes* episodes, uint64_t episode, evc_str outcome,
                            evc_error** error) EVC_NOEXCEPT {
  return with(episodes, error, [&]() -> result<void> {
    const auto read = capi::read_text(outcome, "the outcome");
    if (!read) return read.error();
    return episodes->end(episode, *read);
  });
}

evc_status evc_episodes_cancel(evc_episodes* episodes, uint64_t episode, evc_error** error) EVC_NOEXCEPT {
  return with(episodes, error, [&] { return episodes->cancel(episode); });
}

uint64_t evc_episodes_running(const evc_episodes* episodes) EVC_NOEXCEPT {
  return capi::look_at(episodes, std::uint64_t{0}, [](auto& e) { return e.is_here() ? e.running() : 0; });
}

evc_status evc_episodes_finish(evc_episodes* episodes, evc_text** out, evc_error** error) EVC_NOEXCEPT {
  if (out != nullptr) *out = nullptr;
  return with(episodes, error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    auto figures = episodes->finish();
    if (!figures) return std::move(figures).error();
    *out = new evc_text(*std::move(figures));
    return {};
  });
}

evc_status evc_episodes_poll(evc_episodes* episodes, int32_t timeout_ms, evc_event** out) EVC_NOEXCEPT {
  const auto run = [&](auto&& work) { return with(episodes, nullptr, [&] { return work(*episodes); }); };
  return capi::poll_with(run, timeout_ms, out);
}

evc_status evc_episodes_wake(evc_episodes* episodes) EVC_NOEXCEPT {
  return capi::wake_with(on_events_of(episodes));
}

int32_t evc_episodes_event_fd(evc_episodes* episodes) EVC_NOEXCEPT {
  return capi::descriptor_with(on_events_of(episodes));
}

evc_status evc_episodes_set_wakeup(evc_episodes* episodes, void (*hook)(void* context),
                                   void* context) EVC_NOEXCEPT {
  return capi::hook_with(on_events_of(episodes), hook, context);
}
