#include <evalcore/backend/process.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include <evalcore/base/limits.hpp>

extern char** environ;

namespace evalcore::backend {
namespace {

// Runs in the child's group and ends it when its own standard input closes, that is, when this process is
// gone by whatever way.
constexpr const char* guard_script = "read -r nothing; kill -KILL 0";

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  void close() { descriptor gone(std::exchange(number_, -1)); }

 private:
  int number_ = -1;
};

struct pipe_pair {
  descriptor read;
  descriptor write;
};

/// Both ends are closed by exec, so that no other child inherits them.
result<pipe_pair> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errc::internal, stage::start, "cannot make a pipe");
  return pipe_pair{descriptor(ends[0]), descriptor(ends[1])};
}

struct spawn_plan {
  std::string program;
  std::vector<std::string> arguments;
  int input = -1;   ///< -1: /dev/null.
  int output = -1;  ///< Standard output and error; -1: /dev/null.
  pid_t group = 0;  ///< 0: a new one.
};

/// The child's pid, or a negative errno.
pid_t spawn(const spawn_plan& plan) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (plan.input >= 0) {
    posix_spawn_file_actions_adddup2(&files, plan.input, 0);
  } else {
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  }
  if (plan.output >= 0) {
    posix_spawn_file_actions_adddup2(&files, plan.output, 1);
  } else {
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&files, 1, 2);
#ifdef __GLIBC__
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
#endif

  // The host may block or ignore signals; a child that inherited that could not be ended by SIGTERM.
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) sigaddset(&usual, number);
  posix_spawnattr_t ways;
  posix_spawnattr_init(&ways);
  posix_spawnattr_setflags(&ways, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&ways, plan.group);
  posix_spawnattr_setsigmask(&ways, &none);
  posix_spawnattr_setsigdefault(&ways, &usual);

  std::vector<std::string> words{plan.program};
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  pid_t pid = -1;
  const int wrong = ::posix_spawn(&pid, plan.program.c_str(), &files, &ways, argv.data(), environ);
  posix_spawnattr_destroy(&ways);
  posix_spawn_file_actions_destroy(&files);
  return wrong == 0 ? pid : -wrong;
}

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

  mutable std::mutex guarded;
  mutable std::condition_variable changed;
  std::optional<exit_status> status;
  std::string printed;

  void drain_output() {
    char piece[4096];
    for (;;) {
      const ssize_t got = ::read(output.get(), piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      const std::lock_guard lock(guarded);
      printed.append(piece, static_cast<std::size_t>(got));
      // Cut seldom, so that a talkative child costs one copy for each ring full and not for each line.
      if (printed.size() > 2 * limits::process_log_bytes) {
        printed.erase(0, printed.size() - limits::process_log_bytes);
      }
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
  impl_->drain.join();  // Every process that held the other end is gone.
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
