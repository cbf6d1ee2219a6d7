#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "faults/answers.hpp"

namespace evalcore::faults {

/// How a server meets a connection.
enum class greeting : std::uint8_t { good, expired, wrong_host, self_signed, hangs_up };

/// An https server on 127.0.0.1 with an authority of its own. Connection n is met by greeting n, later ones
/// by the last; each gets one answer, the list of models on the first, and is closed. One connection at a
/// time.
class tls_server {
 public:
  tls_server(std::vector<greeting> greetings, const form& how);
  ~tls_server();
  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;

  [[nodiscard]] std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  /// A PEM file of the authority, there as long as the server.
  [[nodiscard]] const std::string& ca_file() const noexcept { return ca_file_; }
  /// Requests that came through to it.
  [[nodiscard]] int requests() const noexcept { return requests_; }

 private:
  void serve_all();
  void serve(int socket, greeting how, const test::script& answer);

  std::vector<greeting> greetings_;
  form how_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};
  std::uint16_t port_ = 0;
  std::string ca_file_;
  std::vector<void*> contexts_;  ///< SSL_CTX of each greeting but the last.
  std::atomic<int> requests_{0};
  std::thread worker_;
};

}  // namespace evalcore::faults
