#include "runtime.hpp"

#include "guard.hpp"
#include "inputs.hpp"

namespace evalcore::capi {

shared_runtime::wait::wait(shared_runtime& on) : on_(on) {
  const std::lock_guard held(on_.mutex_);
  at_ = on_.waits_.insert(on_.waits_.end(), &stop_);
}

shared_runtime::wait::~wait() {
  const std::lock_guard held(on_.mutex_);
  on_.waits_.erase(at_);
}

void shared_runtime::interrupt() {
  const std::lock_guard held(mutex_);
  for (auto* one : waits_) one->request_stop();
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
