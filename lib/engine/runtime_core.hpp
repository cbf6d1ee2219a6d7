#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <evalcore/engine/runtime.hpp>

#include "engine/listeners.hpp"
#include "engine/scheduler.hpp"

namespace evalcore::engine {

/// A longer time would overflow the clock.
inline constexpr duration longest_wait = std::chrono::hours(24 * 365);

/// What the host's threads and the engine's share: everything is under the mutex but the work on the engine.
struct runtime::core {
  using lock = listeners::lock;

  core(const options& chosen, const prefix_cache_options& kept) : how(chosen), prefix_how(kept) {}

  /// The engine's thread, from the load to the end.
  void run(const loader& load, std::promise<result<void>> loaded);
  void tell(lock& held) noexcept { readers.tell(*decisions, held); }
  void cancel(job_id which) noexcept;
  /// Without the lock meanwhile, as the engine's code may have locks of its own.
  void interrupt(lock& held) noexcept;
  /// `admit`: how the scheduler is asked.
  [[nodiscard]] result<void> post(task what, result<control_id> (scheduler::*admit)());
  void wake_worker() {
    stir = true;
    stirred.notify_one();
  }

  options how;  ///< Like the next four, constant from the load on.
  const prefix_cache_options prefix_how;
  std::thread thread;
  traits about;
  std::string note;
  bool keeps_prefixes = false;
  std::thread::id worker;

  mutable std::mutex mutex;
  std::condition_variable exited;
  bool gone = false;  ///< The engine is destroyed.
  step_engine* engine = nullptr;
  std::optional<prefix_cache> prefixes;
  std::optional<scheduler> decisions;
  listeners readers;
  std::map<control_id, task> tasks;
  prefix_cache_stats last_prefix_stats;

 private:
  result<void> prepare(loaded_engine& made);
  void drive(step_engine& model, lock& held);
  [[nodiscard]] bool turn(step_engine& model, step_output& out, lock& held);
  void pause(std::optional<instant> until, lock& held);
  void run_task(control_id which, step_engine& model, lock& held);
  void end_tasks(lock& held);

  std::condition_variable stirred;  ///< Of the engine's thread.
  bool stir = false;
  std::uint32_t interrupting = 0;  ///< Calls of the engine's interrupt() under way.
};

struct stream::state {
  using stop_callback = std::stop_callback<std::function<void()>>;

  std::shared_ptr<runtime::core> owner;
  std::shared_ptr<listener> heard;
  job_id id = 0;
  bool done = true;  ///< Nothing of it is to be cancelled.
  std::optional<stop_callback> stop;
};

}  // namespace evalcore::engine
