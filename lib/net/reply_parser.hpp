#pragma once

#include <memory>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>

namespace evalcore::net {

/// Where a reply_parser reports.
class reply_events {
 public:
  virtual void on_head(const http_head& head) = 0;
  /// Valid during the call.
  virtual void on_body(std::string_view piece) = 0;

 protected:
  ~reply_events() = default;
};

/// Reads one HTTP/1.x answer from bytes that arrive in any pieces. Up to 8 informational answers (1xx) in
/// front of it are skipped. After an error, feed it no more.
class reply_parser {
 public:
  /// `to` must outlive the parser.
  reply_parser(const http_limits& bounds, reply_events& to);
  ~reply_parser();
  reply_parser(const reply_parser&) = delete;
  reply_parser& operator=(const reply_parser&) = delete;

  /// Errors: bad_reply for what is not HTTP or larger than the limits.
  result<void> feed(std::string_view bytes);
  /// The server closed its side. Success if that is how this answer was to end; else `transport` when not
  /// a byte had come, `truncated` later.
  result<void> finish();

  [[nodiscard]] bool done() const noexcept;
  /// Once done: the connection is at a clean start, nothing follows the answer and neither HTTP/1.0 nor a
  /// header says that the server will close.
  [[nodiscard]] bool reusable() const noexcept;
  [[nodiscard]] const http_head& head() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace evalcore::net
