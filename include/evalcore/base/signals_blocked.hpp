#pragma once

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace evalcore {

/// Blocks signals for as long as it lives, so that a thread started meanwhile is born with them blocked
/// and the host's handlers run on the host's threads. Faults of the thread itself stay deliverable:
/// blocked, they would kill the process past any crash handler.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace evalcore
