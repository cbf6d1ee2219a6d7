#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/limits.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/net/tls_options.hpp>
#include <evalcore/net/url.hpp>

namespace evalcore::net {

/// How long each part may take. The clock of `attempt` starts when the exchange is started, not while it
/// is queued elsewhere. Zero: no bound. A deadline that passes ends the exchange with `timeout`, the stage
/// in which it passed, and a message that names it.
struct deadlines {
  duration connect = std::chrono::seconds(5);       ///< Resolve, connect, TLS handshake.
  duration first_byte = std::chrono::seconds(600);  ///< Request written to first byte of the answer.
  duration idle = std::chrono::seconds(120);  ///< Between two reads of the answer, two writes of the request.
  duration attempt = std::chrono::seconds(900);  ///< The whole exchange, a resend included.
};

struct http_request {
  std::string method = "POST";  ///< Or "GET".
  std::string target;           ///< Path and query, beginning with '/'.
  /// Host, length, connection and accepted encodings are added, and refused here.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  net::deadlines deadlines;
  /// Asks the system when the pieces of the answer came, for a stream.
  bool time_arrivals = false;
};

struct http_head {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;

  /// The first header of that name, case-insensitive; empty when absent.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

/// Where an exchange reports. All calls come on the loop; exactly one on_end, after which there are none.
class http_sink {
 public:
  virtual ~http_sink() = default;
  virtual void on_head(const http_head& head) = 0;
  /// A piece of the body with any chunking removed; valid during the call. `came` is when it was read;
  /// if http_request::time_arrivals, when it arrived at this machine, where the system tells (Linux, without
  /// TLS).
  virtual void on_body(std::string_view piece, instant came) = 0;
  /// Success means that the body ended as its framing promised.
  virtual void on_end(result<void> outcome) = 0;
};

struct http_limits {
  std::uint64_t header_bytes = limits::header_bytes;
  std::uint64_t header_count = limits::header_count;
  std::uint64_t body_bytes = limits::body_bytes;
};

/// An HTTP/1.1 client for one origin, with kept-alive connections. As many exchanges run side by side as
/// are started: the caller bounds them.
///
/// A connection that the server closed while it was idle is noticed on reuse and the request is sent once
/// more on a new one, provided that no byte of an answer was seen. Redirects are not followed: a 3xx is an
/// answer like any other. Proxies that the environment names are not used. The host is resolved off the
/// loop, again after none of its addresses could be connected to; they are raced, 250 ms apart.
///
/// Answers are asked for as they are (`Accept-Encoding: identity`). One that comes compressed all the same
/// is `bad_reply`; of one with a status of 300 or more the head is kept, since its status says enough, and
/// the body is dropped.
///
/// Errors of an exchange: `transport` (not found, refused, reset, closed without an answer; a TLS handshake
/// that failed or a certificate that was refused, at stage `connect`), `timeout`, `truncated` (ended within
/// its answer), `bad_reply` (not HTTP, compressed, or beyond the limits), `cancelled`, `closed`,
/// `invalid_argument` (a path or header that cannot be sent; the TLS options), `unsupported`.
///
/// Lives on the loop: construct, use and destroy it there. Destroying it ends open exchanges with `closed`,
/// from within the destructor. The loop's own destructor may wait for a name lookup that is under way.
class http_client {
 public:
  using exchange_id = std::uint64_t;

  /// `tls` is for an https origin. Its CA file is read here.
  http_client(loop& owner, url origin, http_limits bounds = {}, const tls_options& tls = {});
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// Never calls the sink before it returns.
  exchange_id start(http_request request, std::shared_ptr<http_sink> sink);
  /// Closes the socket; the sink gets on_end(cancelled) unless it has ended. Idempotent.
  void cancel(exchange_id id);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace evalcore::net
