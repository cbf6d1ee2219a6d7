#include "net/timed_receive.hpp"

#if defined(__linux__)

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>

namespace evalcore::net {
namespace {

duration as_duration(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// By the clock of the day.
std::optional<duration> noted(msghdr& message) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(one), sizeof time);
    return as_duration(time);
  }
  return std::nullopt;
}

}  // namespace

timed_bytes receive(int socket, std::span<char> into) noexcept {
  return {::recv(socket, into.data(), into.size(), MSG_DONTWAIT), std::chrono::steady_clock::now()};
}

void note_arrivals(int socket) noexcept {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
}

timed_bytes receive_timed(int socket, std::span<char> into) noexcept {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control;  // The system fills it in.
  iovec where{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto count = ::recvmsg(socket, &message, MSG_DONTWAIT);
  if (count <= 0) return {count, {}};
  const auto now = std::chrono::steady_clock::now();
  const auto came = noted(message);
  if (!came) return {count, now};
  timespec today{};
  ::clock_gettime(CLOCK_REALTIME, &today);
  return {count, now - std::max(as_duration(today) - *came, duration::zero())};
}

}  // namespace evalcore::net

#endif
