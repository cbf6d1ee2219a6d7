#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <ctime>

#include "exit_status.hpp"

namespace evalcore::cli {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

interrupt::interrupt() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A reader of the output that goes away must not end a run.
  std::signal(SIGPIPE, SIG_IGN);
  // Nor must a file that may not grow further (`ulimit -f`): the write fails then, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  waiter_ = std::jthread([this, set](const std::stop_token& end) {
    const timespec pause{0, 50'000'000};
    while (!end.stop_requested()) {
      if (sigtimedwait(&set, nullptr, &pause) < 0) continue;
      if (source_.stop_requested()) _exit(exit_status::interrupted);
      source_.request_stop();
    }
  });
}

interrupt::~interrupt() = default;

}  // namespace evalcore::cli
