#pragma once

#include <mutex>

namespace evalcore::capi {

/// A function of the host's that is called with nothing but its context. Any thread.
class wakeup_hook {
 public:
  /// When this returns, the one before is not running and will not be called again.
  void set(void (*hook)(void*), void* context) {
    const std::lock_guard held(mutex_);
    hook_ = hook;
    context_ = context;
  }
  void call() {
    const std::lock_guard held(mutex_);
    if (hook_ != nullptr) hook_(context_);
  }

 private:
  std::mutex mutex_;  ///< Held while the hook runs.
  void (*hook_)(void*) = nullptr;
  void* context_ = nullptr;
};

}  // namespace evalcore::capi
