#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace evalcore::capi {

/// A descriptor for event loops: readable while it is shown so. One thread at a time.
class readable_pipe {
 public:
  readable_pipe() = default;
  ~readable_pipe() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  readable_pipe(const readable_pipe&) = delete;
  readable_pipe& operator=(const readable_pipe&) = delete;

  /// Made when it is asked for first; -1 where none can be had.
  [[nodiscard]] std::int32_t descriptor() {
    if (ends_[0] >= 0 || ::pipe(ends_.data()) != 0) return ends_[0];
    for (const int end : ends_) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
    if (shown_) put();
    return ends_[0];
  }
  void show(bool readable) noexcept {
    if (readable == shown_) return;
    shown_ = readable;
    if (readable) {
      put();
    } else {
      char byte = 0;
      if (ends_[0] >= 0) static_cast<void>(!::read(ends_[0], &byte, 1));
    }
  }

 private:
  /// It holds one byte while it is readable, and nothing else.
  void put() noexcept {
    constexpr char byte = 1;
    if (ends_[1] >= 0) static_cast<void>(!::write(ends_[1], &byte, 1));
  }

  std::array<int, 2> ends_ = {-1, -1};
  bool shown_ = false;
};

}  // namespace evalcore::capi
