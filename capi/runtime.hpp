#pragma once

#include <unistd.h>

#include <memory>
#include <mutex>
#include <stop_token>

#include <evalcore/base/result.hpp>
#include <evalcore/c/runtime.h>
#include <evalcore/net/loop.hpp>

#include "handle.hpp"

namespace evalcore::capi {

/// The loop. Shared by all that needs it, so that handles may be freed in any order.
class shared_runtime {
 public:
  /// For one wait that begins now: the next interrupt() ends it.
  [[nodiscard]] std::stop_token until_interrupted();
  void interrupt();
  net::loop loop;

 private:
  std::mutex mutex_;
  std::stop_source stop_;  ///< Of all waits since the last interrupt().
};

/// One wait that begins now. It ends with the runtime's next interrupt(), and when its own cancellation is
/// asked for.
class cancellable_wait {
 public:
  cancellable_wait(shared_runtime& on, const std::stop_source& own)
      : interrupted_(on.until_interrupted(), stops{ended_}), cancelled_(own.get_token(), stops{ended_}) {}
  [[nodiscard]] std::stop_token until_ended() const { return ended_.get_token(); }

 private:
  struct stops {
    std::stop_source what;
    void operator()() noexcept { what.request_stop(); }
  };
  const std::stop_source ended_;
  const std::stop_callback<stops> interrupted_;
  const std::stop_callback<stops> cancelled_;
};

/// The base of what has threads or sockets: a process that forked has neither.
class of_one_process {
 public:
  [[nodiscard]] bool is_here() const noexcept { return ::getpid() == made_in_; }

 private:
  pid_t made_in_ = ::getpid();
};

/// check_live(), and that this is the process in which the handle was made. Errors besides: closed.
template <class T>
[[nodiscard]] result<void> check_usable(const T* given) {
  if (auto live = check_live(given); !live) return live;
  if (given->is_here()) return {};
  auto wrong = fail(errc::closed, stage::none,
                    std::string("the ") + T::word +
                        " belongs to another process: after fork(), the child makes what it needs itself");
  wrong.detail = "forked";
  return wrong;
}

/// In a forked child the object is left alone, as its threads are not there to be waited for.
template <class T>
void free_in_its_process(T* given) noexcept {
  if (is_live(given) && given->is_here()) delete given;
}

}  // namespace evalcore::capi

struct evc_runtime : evalcore::capi::handle<evc_runtime>, evalcore::capi::of_one_process {
  static constexpr const char* word = "evc_runtime";
  std::shared_ptr<evalcore::capi::shared_runtime> shared = std::make_shared<evalcore::capi::shared_runtime>();
};
