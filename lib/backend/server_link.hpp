#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/net/tls_options.hpp>

#include "backend/endpoint.hpp"

namespace evalcore::backend {

/// A whole answer, whatever its status.
struct http_answer {
  net::http_head head;
  std::string body;
};

/// An HTTP client for one endpoint that may be made and destroyed on any thread.
class server_link {
 public:
  server_link(net::loop& owner, endpoint at, const net::tls_options& tls = {});
  ~server_link();
  server_link(const server_link&) = delete;
  server_link& operator=(const server_link&) = delete;

  [[nodiscard]] const endpoint& at() const noexcept { return at_; }
  [[nodiscard]] net::loop& loop() const noexcept { return loop_; }

  // On the loop.
  net::http_client::exchange_id start(net::http_request request, std::shared_ptr<net::http_sink> to);
  /// Also from a sink while the link is being destroyed; there it does nothing.
  void cancel(net::http_client::exchange_id which);
  void fetch(net::http_request request, std::function<void(result<http_answer>)> done);

  /// Not on the loop: waits for the answer, or for `stop` (error: cancelled).
  [[nodiscard]] result<http_answer> fetch_and_wait(net::http_request request, const std::stop_token& stop);

 private:
  net::loop& loop_;
  endpoint at_;
  std::unique_ptr<net::http_client> client_;
};

/// For what is asked before a run, which is answered at once or not at all: 30 s for a byte, 60 s in all,
/// unless the user's bounds are shorter.
[[nodiscard]] net::deadlines short_deadlines(const net::deadlines& asked);

}  // namespace evalcore::backend
