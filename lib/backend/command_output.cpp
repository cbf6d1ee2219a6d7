#include "backend/command_output.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <evalcore/backend/process.hpp>
#include <evalcore/base/limits.hpp>

#include "backend/spawn.hpp"

namespace evalcore::backend {
namespace {

using std::chrono::milliseconds;

constexpr auto look_every = milliseconds(50);
constexpr auto exit_grace = milliseconds(1000);  // From the end of its output to its own.

/// Reads to the end of the output, which comes when the program and all that hold its output are gone.
result<std::string> read_all(int from, const std::string& program, milliseconds patience,
                             const std::stop_token& stop) {
  const auto last_moment = std::chrono::steady_clock::now() + patience;
  std::string printed;
  for (;;) {
    if (stop.stop_requested()) {
      return fail(errc::cancelled, stage::start, "interrupted while " + program + " was running");
    }
    if (std::chrono::steady_clock::now() >= last_moment) {
      return fail(errc::timeout, stage::start,
                  program + " did not end within " + std::to_string(patience.count() / 1000) + " s");
    }
    pollfd readable{from, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(look_every.count())) <= 0) continue;
    char piece[4096];
    const ssize_t got = ::read(from, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return printed;
    const auto room = limits::process_log_bytes - printed.size();
    printed.append(piece, std::min<std::size_t>(static_cast<std::size_t>(got), room));
  }
}

/// The status of a child that ends by itself within `grace`, or of one that is killed with its group.
int reap(pid_t child, milliseconds grace) {
  int status = 0;
  for (; grace.count() > 0; grace -= milliseconds(10)) {
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    ::usleep(10'000);
  }
  ::kill(-child, SIGKILL);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

result<std::string> command_output(const std::vector<std::string>& words, milliseconds patience,
                                   const std::stop_token& stop) {
  const auto program = find_program(words.front());
  if (!program) return program.error();
  auto output = make_pipe();
  if (!output) return output.error();
  const pid_t child = spawn({.program = *program,
                             .arguments = {words.begin() + 1, words.end()},
                             .output = output->write.get(),
                             .keep_errors = false});
  if (child < 0) return fail(errc::backend_fault, stage::start, "cannot start " + words.front());
  output->write.close();
  auto printed = read_all(output->read.get(), words.front(), patience, stop);
  const int status = reap(child, printed ? exit_grace : milliseconds(0));
  if (!printed) return printed;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  const exit_status how{.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  return fail(errc::backend_fault, stage::start, words.front() + " failed (" + how.text() + ")");
}

}  // namespace evalcore::backend
