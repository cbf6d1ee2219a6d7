#include <evalcore/engine/runtime.hpp>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <evalcore/base/peak_memory.hpp>
#include <evalcore/base/signals_blocked.hpp>
#include <evalcore/engine/parity.hpp>
#include <evalcore/engine/refusal.hpp>

#include "engine/perform.hpp"
#include "engine/scheduler.hpp"

namespace evalcore::engine {
namespace {

instant now() { return std::chrono::steady_clock::now(); }

/// A longer time would overflow the clock.
constexpr duration longest = std::chrono::hours(24 * 365);
/// Until a host that could not be woken is called again.
constexpr duration wake_again_after = std::chrono::milliseconds(50);

/// A task that throws has ended like any other.
void call(const runtime::task& what, step_engine* model) {
  static_cast<void>(detail::guarded([&]() -> result<void> {
    what(model);
    return {};
  }));
}

options narrowed(options how, std::optional<std::uint32_t> safe_width) {
  if (!safe_width) return how;
  if (*safe_width == 0) how.max_batch_size = 1;
  how.max_width = std::max(1U, std::min(*safe_width, how.max_width.value_or(how.max_batch_size)));
  return how;
}

/// What the engine can be trusted with, by check_parity() where nobody vouches for it; and what that costs.
result<std::string> checked(loaded_engine& made, const options& how) {
  const auto& about = made.engine->about();
  parity_verdict found{.width = made.safe_width.value_or(about.max_rows),
                       .restores = made.keep_prefixes,
                       .why = "whoever loaded the engine says so"};
  if (!made.safe_width && !about.exact) {
    auto verdict = check_parity(*made.engine);
    if (!verdict) return std::move(verdict).error();
    found = *std::move(verdict);
    made.safe_width = found.width;
    made.keep_prefixes = made.keep_prefixes && found.restores;
  }
  return note_of(found, about, how.max_batch_size);
}

struct listener {
  std::shared_ptr<outlet> out;
  std::condition_variable ready;
  std::function<void()> wake;
  bool to_wake = false;  ///< It stands in core::to_wake.
};

/// For a map whose entry must be made while it may fail, and entered when it may not.
template <class Map>
typename Map::node_type node_of(typename Map::mapped_type value) {
  Map made;
  made.emplace(0, std::move(value));
  return made.extract(made.begin());
}

template <class Map>
void enter(Map& into, typename Map::node_type&& node, typename Map::key_type key) noexcept {
  node.key() = key;
  into.insert(std::move(node));
}

}  // namespace

/// What the host's threads and the engine's share: everything is under the mutex but the work on the engine.
struct runtime::core {
  using lock = std::unique_lock<std::mutex>;

  core(const options& chosen, const prefix_cache_options& kept) : how(chosen), prefix_how(kept) {}

  void run(const loader& load, std::promise<result<void>> loaded);
  result<void> prepare(loaded_engine& made);
  void drive(step_engine& model, lock& held);
  [[nodiscard]] bool turn(step_engine& model, step_output& out, lock& held);
  void end_tasks(lock& held, step_engine* model);
  void hear(const std::shared_ptr<listener>& one) noexcept;
  void tell(lock& held) noexcept;
  void cancel(job_id which) noexcept;
  void interrupt(lock& held) noexcept;

  options how;  ///< Like the next four, constant from the load on.
  const prefix_cache_options prefix_how;
  std::thread thread;
  traits about;
  std::string note;
  bool keeps_prefixes = false;
  std::thread::id worker;

  mutable std::mutex mutex;
  std::condition_variable stirred;  ///< Of the engine's thread.
  std::condition_variable exited;
  bool stir = false;
  bool gone = false;  ///< The engine is destroyed.
  step_engine* engine = nullptr;
  std::uint32_t interrupting = 0;  ///< Calls of its interrupt() under way.
  std::optional<prefix_cache> prefixes;
  std::optional<scheduler> decisions;
  std::map<job_id, std::shared_ptr<listener>> listeners;
  std::map<control_id, task> tasks;
  prefix_cache_stats last_prefix_stats;
  std::vector<job_id> news;
  std::vector<std::shared_ptr<listener>> to_wake;  ///< Has room for each that listens or listened.
  std::size_t waking = 0;                          ///< Taken from there, and being called.

  void wake_worker() {
    stir = true;
    stirred.notify_one();
  }
};

void runtime::core::run(const loader& load, std::promise<result<void>> loaded) {
  auto made = detail::guarded(load);
  if (made) {
    if (auto ready = detail::guarded([&] { return prepare(*made); }); !ready) made = std::move(ready).error();
  }
  if (!made) {
    loaded.set_value(std::move(made).error());
    return;
  }
  auto model = std::move(made->engine);
  lock held(mutex);
  worker = std::this_thread::get_id();
  engine = model.get();
  loaded.set_value({});
  drive(*model, held);
  engine = nullptr;
  exited.wait(held, [this] { return interrupting == 0; });
  if (prefixes) last_prefix_stats = prefixes->stats();
  end_tasks(held, nullptr);
  held.unlock();
  prefixes.reset();
  model.reset();
  held.lock();
  gone = true;
  exited.notify_all();
}

result<void> runtime::core::prepare(loaded_engine& made) {
  if (!made.engine) return fail(errc::internal, stage::start, "the loader gave no engine");
  auto found = checked(made, how);
  if (!found) return std::move(found).error();
  note = *std::move(found);
  about = made.engine->about();
  how = narrowed(how, made.safe_width);
  keeps_prefixes = about.snapshots && made.keep_prefixes;
  if (keeps_prefixes) prefixes.emplace(about, made.engine->memory(), prefix_how);
  decisions.emplace(how, about, prefixes ? &*prefixes : nullptr);
  return {};
}

void runtime::core::drive(step_engine& model, lock& held) {
  step_output out;
  for (bool runs = true; runs;) {
    try {
      runs = turn(model, out, held);
    } catch (const std::bad_alloc&) {
      decisions->out_of_memory();
      tell(held);
    }
  }
}

/// Does the next thing. False: there is none any more.
bool runtime::core::turn(step_engine& model, step_output& out, lock& held) {
  stir = false;
  auto to_do = decisions->next(now());
  tell(held);
  if (const auto* pause = std::get_if<wait>(&to_do)) {
    auto until = pause->until;
    if (!to_wake.empty()) until = std::min(until.value_or(instant::max()), now() + wake_again_after);
    const auto ready = [this] { return stir; };
    if (until) {
      stirred.wait_until(held, *until, ready);
    } else {
      stirred.wait(held, ready);
    }
  } else if (const auto* control = std::get_if<run_control>(&to_do)) {
    auto what = tasks.extract(control->which);
    held.unlock();
    call(what.mapped(), &model);
    what = {};  // Without the lock: a task may be the last owner of a stream.
    held.lock();
  } else if (!std::holds_alternative<stopped>(to_do)) {
    perform(to_do, model, out, *decisions, held, now);
    tell(held);
  }
  return !std::holds_alternative<stopped>(to_do);
}

void runtime::core::end_tasks(lock& held, step_engine* model) {
  auto left = std::exchange(tasks, {});
  held.unlock();
  for (const auto& [id, what] : left) call(what, model);
  left.clear();
  held.lock();
}

void runtime::core::hear(const std::shared_ptr<listener>& one) noexcept {
  one->ready.notify_all();
  if (!one->wake || std::exchange(one->to_wake, true)) return;
  to_wake.push_back(one);
}

/// Wakes whoever has something to read.
void runtime::core::tell(lock& held) noexcept {
  if (decisions->take_news(news)) {
    for (const auto id : news) {
      const auto found = listeners.find(id);
      if (found == listeners.end()) continue;
      hear(found->second);
      if (found->second->out->ended()) listeners.erase(found);
    }
  } else {
    for (const auto& [id, one] : listeners) {
      if (one->out->ready()) hear(one);
    }
    std::erase_if(listeners, [](const auto& entry) { return entry.second->out->ended(); });
  }
  for (auto left = to_wake.size(); left > 0 && !to_wake.empty(); --left) {
    auto one = std::move(to_wake.back());
    to_wake.pop_back();
    one->to_wake = false;
    ++waking;
    held.unlock();
    bool woken = true;
    try {
      one->wake();
    } catch (...) {
      woken = false;
    }
    if (woken) one.reset();  // Without the lock: it may be the last owner, and what wakes may own a stream.
    held.lock();
    --waking;
    if (!woken && !std::exchange(one->to_wake, true)) to_wake.insert(to_wake.begin(), one);
  }
}

void runtime::core::cancel(job_id which) noexcept {
  lock held(mutex);
  const bool has_row = decisions->cancel(which);
  wake_worker();
  tell(held);
  if (has_row) interrupt(held);
}

/// Without the lock, as the engine's code may have locks of its own.
void runtime::core::interrupt(lock& held) noexcept {
  if (engine == nullptr) return;
  auto& model = *engine;
  ++interrupting;
  held.unlock();
  model.interrupt();
  held.lock();
  if (--interrupting == 0) exited.notify_all();
}

struct stream::state {
  using stop_callback = std::stop_callback<std::function<void()>>;

  std::shared_ptr<runtime::core> owner;
  std::shared_ptr<listener> heard;
  job_id id = 0;
  bool done = true;  ///< Nothing of it is to be cancelled.
  std::optional<stop_callback> stop;
};

stream::stream(std::unique_ptr<state> made) : state_(std::move(made)) {}

stream::~stream() {
  state_->stop.reset();
  {
    // Nobody reads any more, so nobody is to be woken.
    const std::lock_guard held(state_->owner->mutex);
    state_->owner->listeners.erase(state_->id);
    std::erase(state_->owner->to_wake, state_->heard);
  }
  if (!state_->done) state_->owner->cancel(state_->id);
}

bool stream::read(reading& into, duration timeout) {
  into.records.clear();
  into.end.reset();
  std::unique_lock held(state_->owner->mutex);
  auto& out = *state_->heard->out;
  const auto ready = [&] { return out.ready(); };
  if (state_->done) return false;
  if (!ready() && timeout > duration::zero()) {
    state_->heard->ready.wait_for(held, std::min(timeout, longest), ready);
  }
  if (!ready()) return false;
  into.end = out.take(into.records);
  state_->done = into.end.has_value();
  held.unlock();
  if (into.end && *into.end) into.end->value().how.peak_memory = peak_memory();
  return true;
}

void stream::cancel() { state_->owner->cancel(state_->id); }

runtime::runtime(std::shared_ptr<core> made) : core_(std::move(made)) {}

result<std::unique_ptr<runtime>> runtime::start(loader load, const options& how,
                                                const prefix_cache_options& prefixes) {
  if (auto fine = check(how); !fine) return std::move(fine).error();
  if (auto fine = check(prefixes); !fine) return std::move(fine).error();
  auto made = std::make_shared<core>(how, prefixes);
  // Before the thread: afterwards nothing may fail.
  std::unique_ptr<runtime> running(new runtime(made));
  std::promise<result<void>> loaded;
  auto outcome = loaded.get_future();
  {
    const signals_blocked blocked;
    made->thread =
        std::thread([core = made.get(), load = std::move(load), loaded = std::move(loaded)]() mutable {
          core->run(load, std::move(loaded));
        });
  }
  if (auto fine = outcome.get(); !fine) {
    made->thread.join();
    return std::move(fine).error();
  }
  return running;
}

runtime::~runtime() {
  if (!core_->thread.joinable()) return;  // It was never started.
  while (!close(longest)) {
  }
  core_->thread.join();
}

const traits& runtime::about() const noexcept { return core_->about; }
const options& runtime::how() const noexcept { return core_->how; }
const std::string& runtime::note() const noexcept { return core_->note; }
bool runtime::keeps_prefixes() const noexcept { return core_->keeps_prefixes; }

result<std::unique_ptr<stream>> runtime::submit(request what, submission how) {
  auto state = std::make_unique<stream::state>();
  state->owner = core_;
  state->heard = std::make_shared<listener>();
  state->heard->wake = std::move(how.wake);
  auto listens = node_of<decltype(core::listeners)>(state->heard);
  auto& at = *state;
  // Before the request is given: who is told that there is no memory has no request that runs.
  std::unique_ptr<stream> made(new stream(std::move(state)));
  {
    core::lock held(core_->mutex);
    core_->to_wake.reserve(core_->listeners.size() + core_->to_wake.size() + core_->waking + 1);
    auto given = core_->decisions->submit(std::move(what), how.stop.stop_requested(), now());
    if (given) {
      at.heard->out = std::move(given->out);
      at.id = given->id;
      at.done = false;
      enter(core_->listeners, std::move(listens), given->id);
      core_->wake_worker();
    }
    // Last, since it lets go of the lock: what the worker says meanwhile has its listener.
    core_->tell(held);
    if (!given) return std::move(given).error();
  }
  if (how.stop.stop_possible()) {
    at.stop.emplace(std::move(how.stop), [owner = core_, id = at.id] { owner->cancel(id); });
  }
  return made;
}

result<void> runtime::post(task what) {
  auto one = node_of<decltype(core::tasks)>(std::move(what));
  const std::lock_guard held(core_->mutex);
  auto given = core_->decisions->control();
  if (!given) return std::move(given).error();
  enter(core_->tasks, std::move(one), *given);
  core_->wake_worker();
  return {};
}

result<void> runtime::control(const std::function<result<void>(step_engine&)>& what) {
  const auto run = [&what](step_engine& model) { return detail::guarded([&] { return what(model); }); };
  if (std::this_thread::get_id() == core_->worker) {
    if (core_->engine == nullptr) return refused(refusal::runtime_closed, "the runtime is closed");
    return run(*core_->engine);
  }
  // Shared: whoever waits may be gone before set_value() has returned.
  auto ended = std::make_shared<std::promise<result<void>>>();
  auto outcome = ended->get_future();
  auto posted = post([ended, &run](step_engine* model) {
    ended->set_value(detail::guarded([&]() -> result<void> {
      if (model != nullptr) return run(*model);
      return refused(refusal::cancelled, "the engine was closed before its turn");
    }));
  });
  if (!posted) return posted;
  return outcome.get();
}

result<std::size_t> runtime::clear_prefixes() {
  std::size_t count = 0;
  auto outcome = control([&](step_engine&) -> result<void> {
    const std::lock_guard held(core_->mutex);
    if (core_->prefixes) count = core_->prefixes->clear();
    return {};
  });
  if (!outcome) return std::move(outcome).error();
  return count;
}

statistics runtime::stats() const {
  const std::lock_guard held(core_->mutex);
  return core_->decisions->stats();
}

prefix_cache_stats runtime::prefix_stats() const {
  const std::lock_guard held(core_->mutex);
  return core_->engine != nullptr && core_->prefixes ? core_->prefixes->stats() : core_->last_prefix_stats;
}

result<void> runtime::close(duration patience) {
  if (std::this_thread::get_id() == core_->worker) {
    return fail(errc::busy, stage::body, "a task cannot wait for the end of the engine that runs it");
  }
  core::lock held(core_->mutex);
  core_->decisions->close();
  core_->wake_worker();
  core_->tell(held);
  core_->interrupt(held);
  if (core_->exited.wait_for(held, std::min(patience, longest), [this] { return core_->gone; })) return {};
  return refused(refusal::backend_error,
                 "the engine is still at work; it stays owned until its operation returns");
}

}  // namespace evalcore::engine
