#include <algorithm>
#include <mutex>
#include <utility>

#include <evalcore/base/peak_memory.hpp>

#include "engine/runtime_core.hpp"

namespace evalcore::engine {

stream::stream(std::unique_ptr<state> made) : state_(std::move(made)) {}

stream::~stream() {
  state_->stop.reset();
  {
    const std::lock_guard held(state_->owner->mutex);
    state_->owner->readers.leave(state_->id, state_->heard);
  }
  if (!state_->done) state_->owner->cancel(state_->id);
}

bool stream::read(reading& into, duration timeout) {
  into.records.clear();
  into.end.reset();
  std::unique_lock held(state_->owner->mutex);
  auto& out = *state_->heard->out;
  const auto ready = [&] { return out.ready(); };
  if (state_->done) return false;
  if (!ready() && timeout > duration::zero()) {
    state_->heard->ready.wait_for(held, std::min(timeout, longest_wait), ready);
  }
  if (!ready()) return false;
  into.end = out.take(into.records);
  state_->done = into.end.has_value();
  held.unlock();
  if (into.end && *into.end) into.end->value().how.peak_memory = peak_memory();
  return true;
}

void stream::cancel() { state_->owner->cancel(state_->id); }

}  // namespace evalcore::engine
