#include <evalcore/net/loop.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include <evalcore/base/signals_blocked.hpp>

#include "net/loop_impl.hpp"

namespace evalcore::net {
namespace {

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
