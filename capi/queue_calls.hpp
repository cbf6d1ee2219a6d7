#pragma once

#include <cstdint>

#include "event_queue.hpp"
#include "inputs.hpp"

namespace evalcore::capi {

// The calls of a host that waits for events. `with` gives the queue to a function that returns result<void>,
// and its outcome to the host; or a status why there is no queue.

/// The queue may be anything that events are taken from.
template <class With>
evc_status poll_with(With&& with, std::int32_t timeout_ms, evc_event** out) noexcept {
  evc_status status = EVC_OK;
  if (out != nullptr) *out = nullptr;
  const evc_status done = with([&](auto& from) -> result<void> {
    if (auto good = clear(out); !good) return good;
    pool_event one;
    status = status_of(from.take(timeout_ms, one));
    *out = one.release();
    return {};
  });
  return done == EVC_OK ? status : done;
}

/// -1 where there is none.
template <class With>
std::int32_t descriptor_with(With&& with) noexcept {
  std::int32_t descriptor = -1;
  const evc_status done = with([&](auto& events) -> result<void> {
    descriptor = events.descriptor();
    return {};
  });
  return done == EVC_OK ? descriptor : -1;
}

template <class With>
evc_status wake_with(With&& with) noexcept {
  return with([](auto& events) -> result<void> {
    events.wake();
    return {};
  });
}

template <class With>
evc_status hook_with(With&& with, void (*hook)(void*), void* context) noexcept {
  return with([&](auto& events) -> result<void> {
    events.set_hook(hook, context);
    return {};
  });
}

}  // namespace evalcore::capi
