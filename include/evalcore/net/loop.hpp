#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <evalcore/base/clock.hpp>

namespace evalcore::net {

/// The one I/O thread: it owns sockets, timers and every object that says "on the loop". Public because
/// backends and the pool share one.
///
/// Threads: post() and in_loop() from any thread, the rest on the loop. The destructor stops the loop,
/// drops what was posted and joins; it must not run on the loop itself.
class loop {
 public:
  using timer_id = std::uint64_t;

  loop();
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  /// Runs `task` on the loop, in the order of the calls.
  void post(std::function<void()> task);
  /// Runs `task` on the loop and waits for it; from the loop itself it just runs it.
  void run_and_wait(const std::function<void()>& task);
  /// Runs `task` once, `delay` from now. The id is never reused.
  timer_id after(duration delay, std::function<void()> task);
  /// Idempotent; after it returns the task does not run.
  void cancel(timer_id id);
  [[nodiscard]] bool in_loop() const noexcept;

  struct impl;
  [[nodiscard]] impl& native() noexcept { return *impl_; }  ///< For lib/net only.

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace evalcore::net
