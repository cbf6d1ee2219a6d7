#include <evalcore/engine/runtime.hpp>

#include <algorithm>
#include <utility>

#include <evalcore/base/signals_blocked.hpp>
#include <evalcore/engine/refusal.hpp>

#include "engine/perform.hpp"
#include "engine/runtime_core.hpp"

namespace evalcore::engine {
namespace {

instant now() { return std::chrono::steady_clock::now(); }

}  // namespace

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
  while (!close(longest_wait)) {
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
  auto listens = listeners::place_for(state->heard);
  auto& at = *state;
  // Before the request is given: who is told that there is no memory has no request that runs.
  std::unique_ptr<stream> made(new stream(std::move(state)));
  {
    core::lock held(core_->mutex);
    core_->readers.make_room();
    auto given = core_->decisions->submit(std::move(what), how.stop.stop_requested(), now());
    if (given) {
      at.heard->out = std::move(given->out);
      at.id = given->id;
      at.done = false;
      core_->readers.enter(std::move(listens), given->id);
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

result<void> runtime::post(task what) { return core_->post(std::move(what), &scheduler::control); }

result<void> runtime::post_aside(task what) { return core_->post(std::move(what), &scheduler::aside); }

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
  if (core_->exited.wait_for(held, std::min(patience, longest_wait), [this] { return core_->gone; }))
    return {};
  return refused(refusal::backend_error,
                 "the engine is still at work; it stays owned until its operation returns");
}

}  // namespace evalcore::engine
