#pragma once

#include <stop_token>
#include <thread>

namespace evalcore::cli {

/// Turns Ctrl-C (SIGINT), SIGTERM and SIGHUP into a stop request; a second one ends the program at once with
/// 130. Construct it before any other thread, so that every thread inherits the blocked signals.
class interrupt {
 public:
  interrupt();
  ~interrupt();
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;

  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread waiter_;
};

}  // namespace evalcore::cli
