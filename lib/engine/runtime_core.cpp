// The engine's thread.
#include "engine/runtime_core.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/perform.hpp"
#include "engine/trust.hpp"

namespace evalcore::engine {
namespace {

instant now() { return std::chrono::steady_clock::now(); }

/// Until a host that could not be woken is called again.
constexpr duration wake_again_after = std::chrono::milliseconds(50);

/// A task that throws has ended like any other.
void call(const runtime::task& what, step_engine* model) {
  static_cast<void>(detail::guarded([&]() -> result<void> {
    what(model);
    return {};
  }));
}

}  // namespace

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
  end_tasks(held);
  held.unlock();
  prefixes.reset();
  model.reset();
  held.lock();
  gone = true;
  exited.notify_all();
}

result<void> runtime::core::prepare(loaded_engine& made) {
  if (!made.engine) return fail(errc::internal, stage::start, "the loader gave no engine");
  auto found = check_trust(made, how);
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
  if (const auto* wanted = std::get_if<wait>(&to_do)) {
    pause(wanted->until, held);
  } else if (const auto* control = std::get_if<run_control>(&to_do)) {
    run_task(control->which, model, held);
  } else if (!std::holds_alternative<stopped>(to_do)) {
    perform(to_do, model, out, *decisions, held, now);
    tell(held);
  }
  return !std::holds_alternative<stopped>(to_do);
}

void runtime::core::pause(std::optional<instant> until, lock& held) {
  if (readers.again()) until = std::min(until.value_or(instant::max()), now() + wake_again_after);
  const auto ready = [this] { return stir; };
  if (until) {
    stirred.wait_until(held, *until, ready);
  } else {
    stirred.wait(held, ready);
  }
}

void runtime::core::run_task(control_id which, step_engine& model, lock& held) {
  auto what = tasks.extract(which);
  held.unlock();
  call(what.mapped(), &model);
  what = {};  // Without the lock: a task may be the last owner of a stream.
  held.lock();
}

void runtime::core::end_tasks(lock& held) {
  auto left = std::exchange(tasks, {});
  held.unlock();
  for (const auto& [id, what] : left) call(what, nullptr);
  left.clear();
  held.lock();
}

result<void> runtime::core::post(task what, result<control_id> (scheduler::*admit)()) {
  auto one = node_of<decltype(tasks)>(std::move(what));
  const std::lock_guard held(mutex);
  auto given = ((*decisions).*admit)();
  if (!given) return std::move(given).error();
  enter(tasks, std::move(one), *given);
  wake_worker();
  return {};
}

void runtime::core::cancel(job_id which) noexcept {
  lock held(mutex);
  const bool has_row = decisions->cancel(which);
  wake_worker();
  tell(held);
  if (has_row) interrupt(held);
}

void runtime::core::interrupt(lock& held) noexcept {
  if (engine == nullptr) return;
  auto& model = *engine;
  ++interrupting;
  held.unlock();
  model.interrupt();
  held.lock();
  if (--interrupting == 0) exited.notify_all();
}

}  // namespace evalcore::engine
