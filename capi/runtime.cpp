#include "runtime.hpp"

#include "guard.hpp"
#include "inputs.hpp"

namespace evalcore::capi {

std::stop_token shared_runtime::until_interrupted() {
  const std::lock_guard held(mutex_);
  return stop_.get_token();
}

void shared_runtime::interrupt() {
  std::stop_source ended;
  {
    const std::lock_guard held(mutex_);
    stop_.swap(ended);
  }
  // Without the lock: what it calls may be of any kind.
  ended.request_stop();
}

}  // namespace evalcore::capi

namespace capi = evalcore::capi;
using evalcore::result;

evc_status evc_runtime_new(evc_runtime** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    *out = new evc_runtime;
    return {};
  });
}

evc_status evc_runtime_interrupt(evc_runtime* runtime) EVC_NOEXCEPT {
  return capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_usable(runtime); !good) return good;
    runtime->shared->interrupt();
    return {};
  });
}

void evc_runtime_free(evc_runtime* runtime) EVC_NOEXCEPT { capi::free_in_its_process(runtime); }
