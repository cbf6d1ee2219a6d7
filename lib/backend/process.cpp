#include <evalcore/backend/process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include <evalcore/base/limits.hpp>

#include "backend/spawn.hpp"

namespace evalcore::backend {
namespace {

// Runs in the child's group and ends it when its own standard input closes, that is, when this process is
// gone by whatever way.
constexpr const char* guard_script = "read -r nothing; kill -KILL 0";

exit_status status_from(const siginfo_t& facts) {
  if (facts.si_code == CLD_EXITED) return {.code = facts.si_status, .signal = 0};
  return {.code = 0, .signal = facts.si_status};
}

}  // namespace

std::string exit_status::text() const {
  return signal != 0 ? "signal " + std::to_string(signal) : "exit code " + std::to_string(code);
}

struct managed_process::impl {
  pid_t child = -1;
  pid_t guard = -1;
  descriptor leash;  ///< The guard's standard input.
  descriptor output;
  std::thread drain;
  std::thread watch;
  std::mutex stopping;
  bool stopped = false;
  std::atomic<bool> reaped = false;

  mutable std::mutex guarded;
  mutable std::condition_variable changed;
  std::optional<exit_status> status;
  std::string printed;

  /// Takes what waits in the pipe; false when no more will come. With `guarded` held.
  bool take_output() {
    char piece[4096];
    constexpr int pipe_full = 16;  // A pipe holds 64 KiB; a child that never stops is heard in turns.
    for (int n = 0; n < pipe_full; ++n) {
      const ssize_t got = ::read(output.get(), piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got < 0 && errno == EAGAIN;
      printed.append(piece, static_cast<std::size_t>(got));
      // Cut seldom, so that a talkative child costs one copy for each ring full and not for each line.
      if (printed.size() > 2 * limits::process_log_bytes) {
        printed.erase(0, printed.size() - limits::process_log_bytes);
      }
      if (static_cast<std::size_t>(got) < sizeof piece) return true;
    }
    return true;
  }

  void drain_output() {
    for (;;) {
      // A grandchild that left the group may hold the other end for ever: once the child is reaped, what is
      // in the pipe is read and no more is waited for.
      pollfd readable{output.get(), POLLIN, 0};
      const int ready = ::poll(&readable, 1, reaped ? 0 : 50);
      if (ready == 0 && reaped) return;
      if (ready <= 0) continue;
      const std::lock_guard lock(guarded);
      if (!take_output()) return;
    }
  }

  // The child is left unreaped: until stop() its pid, and with it the group's number, cannot be taken by a
  // stranger, so that a signal to the group cannot hit one.
  void watch_child() {
    siginfo_t facts{};
    while (::waitid(P_PID, static_cast<id_t>(child), &facts, WEXITED | WNOWAIT) != 0) {
      if (errno != EINTR) break;
    }
    const std::lock_guard lock(guarded);
    take_output();  // Whoever hears of its end finds its last words.
    status = status_from(facts);
    changed.notify_all();
  }
};

result<std::unique_ptr<managed_process>> managed_process::start(const std::string& program,
                                                                const std::vector<std::string>& arguments) {
  auto output = make_pipe();
  if (!output) return output.error();
  auto leash = make_pipe();
  if (!leash) return leash.error();

  // Two threads read it; neither is to wait for what the other took.
  ::fcntl(output->read.get(), F_SETFL, O_NONBLOCK);

  auto state = std::make_unique<impl>();
  state->child = spawn({.program = program, .arguments = arguments, .output = output->write.get()});
  if (state->child < 0) {
    return fail(
        errc::backend_fault, stage::start,
        "cannot start " + program + ": " + std::strerror(-state->child));  // NOLINT(concurrency-mt-unsafe)
  }
  // Without a guard the child still runs; it would only outlive a killed run.
  state->guard = spawn({.program = "/bin/sh",
                        .arguments = {"-c", guard_script},
                        .input = leash->read.get(),
                        .group = state->child});
  state->leash = std::move(leash->write);
  state->output = std::move(output->read);
  state->drain = std::thread([state = state.get()] { state->drain_output(); });
  state->watch = std::thread([state = state.get()] { state->watch_child(); });
  return std::unique_ptr<managed_process>(new managed_process(std::move(state)));
}

managed_process::managed_process(std::unique_ptr<impl> state) : impl_(std::move(state)) {}

managed_process::~managed_process() { stop(); }

void managed_process::stop(std::chrono::milliseconds grace) {
  const std::lock_guard once(impl_->stopping);
  if (std::exchange(impl_->stopped, true)) return;
  ::kill(-impl_->child, SIGTERM);
  static_cast<void>(wait(grace));
  ::kill(-impl_->child, SIGKILL);
  impl_->watch.join();
  ::waitpid(impl_->child, nullptr, 0);
  if (impl_->guard > 0) ::waitpid(impl_->guard, nullptr, 0);
  impl_->reaped = true;
  impl_->drain.join();
}

std::optional<exit_status> managed_process::exited() const {
  const std::lock_guard lock(impl_->guarded);
  return impl_->status;
}

std::optional<exit_status> managed_process::wait(std::chrono::milliseconds patience) const {
  std::unique_lock lock(impl_->guarded);
  impl_->changed.wait_for(lock, patience, [this] { return impl_->status.has_value(); });
  return impl_->status;
}

std::string managed_process::log() const {
  const std::lock_guard lock(impl_->guarded);
  const auto& all = impl_->printed;
  return all.size() <= limits::process_log_bytes ? all : all.substr(all.size() - limits::process_log_bytes);
}

std::int64_t managed_process::pid() const noexcept { return impl_->child; }

}  // namespace evalcore::backend
