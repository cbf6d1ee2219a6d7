#include <evalcore/net/loop.hpp>

#include <boost/asio/post.hpp>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "net/loop_impl.hpp"

namespace evalcore::net {
namespace {

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

/// Far enough to mean never, near enough not to overflow the clock.
constexpr duration longest_delay = std::chrono::hours(24 * 365 * 10);

}  // namespace

loop::loop() : impl_(std::make_unique<impl>()) {
  const signals_blocked while_it_starts;
  impl_->thread = std::thread([state = impl_.get()] { state->context.run(); });
}

loop::~loop() {
  impl_->context.stop();
  impl_->thread.join();
}

void loop::post(std::function<void()> task) { boost::asio::post(impl_->context, std::move(task)); }

void loop::run_and_wait(const std::function<void()>& task) {
  if (in_loop()) {
    task();
    return;
  }
  std::packaged_task<void()> once(task);
  auto done = once.get_future();
  post([&once] { once(); });
  done.get();
}

loop::timer_id loop::after(duration delay, std::function<void()> task) {
  const timer_id id = impl_->next_timer++;
  auto timer = std::make_unique<boost::asio::steady_timer>(impl_->context, std::min(delay, longest_delay));
  timer->async_wait([state = impl_.get(), id, run = std::move(task)](const boost::system::error_code&) {
    // Absence means cancelled, also when the timer had already fired and this was queued.
    if (state->timers.erase(id) == 1) run();
  });
  impl_->timers.emplace(id, std::move(timer));
  return id;
}

void loop::cancel(timer_id id) { impl_->timers.erase(id); }

bool loop::in_loop() const noexcept { return impl_->context.get_executor().running_in_this_thread(); }

}  // namespace evalcore::net
