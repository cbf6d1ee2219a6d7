#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include <evalcore/base/clock.hpp>

// For Linux: plain_reads is all that calls it.
namespace evalcore::net {

struct timed_bytes {
  ssize_t count;  ///< As of recv(): negative with errno set.
  instant came;   ///< Of a read that brought bytes: when the last of them arrived.
};

/// recv(MSG_DONTWAIT), and the time of the read.
[[nodiscard]] timed_bytes receive(int socket, std::span<char> into) noexcept;

/// Has the system note when bytes arrive at the socket, which costs each read some hundred nanoseconds.
void note_arrivals(int socket) noexcept;

/// As receive(), with the time at which the bytes arrived at this machine, where that was noted. It may be
/// long before the read: where a host computes on every core, the loop's thread waits for its turn, and that
/// wait is not the server's.
///
/// The system notes by the clock of the day. A clock that is set between arrival and read makes a time that
/// is off by as much; the caller bounds it by what it knows.
[[nodiscard]] timed_bytes receive_timed(int socket, std::span<char> into) noexcept;

}  // namespace evalcore::net
