#include <evalcore/run/host_scorer.hpp>

#include <utility>

namespace evalcore::run {

result<void> host_scorer::give(std::uint64_t ticket, score::verdict what) {
  if (what.scored && !(what.value >= 0 && what.value <= 1)) {
    return fail(errc::invalid_argument, stage::score, "a score is a number from 0 to 1");
  }
  const std::lock_guard held(mutex_);
  if (open_.erase(ticket) == 0) {
    return fail(errc::not_found, stage::score, "no reply of that ticket waits for a score");
  }
  what.further.clear();
  given_.emplace_back(ticket, std::move(what));
  changed_.notify_one();
  if (wake_) wake_();
  return {};
}

std::uint64_t host_scorer::ask(score_question what) {
  what.ticket = ++last_ticket_;
  {
    const std::lock_guard held(mutex_);
    open_.insert(what.ticket);
  }
  ask_(std::move(what));
  return last_ticket_;
}

std::vector<host_scorer::answer> host_scorer::take() {
  const std::lock_guard held(mutex_);
  return std::exchange(given_, {});
}

void host_scorer::wait(std::chrono::milliseconds at_most, const std::stop_token& stop) {
  std::unique_lock held(mutex_);
  changed_.wait_for(held, stop, at_most, [this] { return !given_.empty(); });
}

void host_scorer::when_given(std::function<void()> wake) {
  const std::lock_guard held(mutex_);
  wake_ = std::move(wake);
}

void host_scorer::close() {
  const std::lock_guard held(mutex_);
  open_.clear();
}

}  // namespace evalcore::run
