#pragma once

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include <evalcore/base/clock.hpp>

namespace evalcore::net {

/// What a loop's connections without TLS do, by system calls of their own: one wait finds all sockets that
/// have something, and one buffer serves them all, so that it stays in the processor's cache. Asio gives each
/// read a buffer, a place in its queue, and a second read that finds nothing: with thousands of streams that
/// is most of what they cost.
///
/// On the loop. The sockets are non-blocking.
class plain_reads {
 public:
  using error_code = boost::system::error_code;
  /// All that arrives until the connection breaks, when it came, and whether it was all
  /// that there was. The bytes are valid during the call, which may close any socket.
  using heard = std::function<void(const error_code&, std::string_view bytes, instant came, bool all)>;

  virtual ~plain_reads() = default;

  /// Owns the socket from here on, until close() or its own end.
  virtual void add(int socket, heard to) = 0;
  /// From here on the system tells when its bytes came; before, and where it does not, they came when they
  /// were read.
  virtual void time_arrivals(int socket) = 0;
  /// Nothing is heard of it any more.
  virtual void close(int socket) = 0;

  /// How many of the bytes went out at once; 0 also when that cannot be known.
  [[nodiscard]] virtual std::size_t write(int socket, std::string_view bytes) = 0;
  /// Calls `then` once the socket takes bytes again, or broke.
  virtual void when_writable(int socket, std::function<void()> then) = 0;
  /// Nothing has come that was not heard, not even the end.
  [[nodiscard]] virtual bool silent(int socket) = 0;
};

/// Null where the system has no epoll, or no file left for one: connections then go through Asio.
[[nodiscard]] std::unique_ptr<plain_reads> make_plain_reads(boost::asio::io_context& context);

}  // namespace evalcore::net
