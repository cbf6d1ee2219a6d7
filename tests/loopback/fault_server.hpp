#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace evalcore::test {

/// One thing that the server does in answer to a request.
struct act {
  enum class kind : std::uint8_t { send, drip, pause, stall, endless, reset, close };
  kind what = kind::send;
  std::string bytes;
  std::chrono::milliseconds span{0};
};

[[nodiscard]] act send(std::string bytes);
/// One byte at a time, `gap` apart.
[[nodiscard]] act drip(std::string bytes, std::chrono::milliseconds gap);
[[nodiscard]] act pause(std::chrono::milliseconds span);
/// Nothing more, until the client closes or the server stops.
[[nodiscard]] act stall();
/// The same bytes again and again, until the client closes.
[[nodiscard]] act endless(std::string bytes);
/// An RST in place of an orderly end.
[[nodiscard]] act reset();
[[nodiscard]] act close();

/// What one request gets. Without a reset or close at its end the connection stays open for the next.
using script = std::vector<act>;

/// Where a server listens; port 0: any that is free.
struct place {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
};

/// A server on the loopback that misbehaves as told: raw sockets and threads, none of the code
/// under test. Request n, counted over all connections, gets script n; later ones the last. All functions
/// from any thread. The destructor ends every connection and joins.
class fault_server {
 public:
  enum class manner : std::uint8_t {
    answers,
    answers_heads,  ///< Answers once it has read a request's head, then resets.
    never_reads,    ///< Accepts connections and leaves requests in the kernel's buffers.
  };

  explicit fault_server(std::vector<script> scripts, manner how = manner::answers, const place& at = {});
  ~fault_server();
  fault_server(const fault_server&) = delete;
  fault_server& operator=(const fault_server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// Connections that the client has closed.
  [[nodiscard]] int closed_by_client() const noexcept { return closed_by_client_; }
  /// Whole requests, head and body, in the order in which they were read.
  [[nodiscard]] std::vector<std::string> requests() const;
  /// When each of them had been read.
  [[nodiscard]] std::vector<std::chrono::system_clock::time_point> arrivals() const;

 private:
  void accept_all();
  void serve(int socket);
  [[nodiscard]] bool read_request(int socket, std::string& text, std::string& carry);
  [[nodiscard]] bool play(int socket, const script& acts);
  [[nodiscard]] bool sleep(std::chrono::milliseconds span) const;
  [[nodiscard]] bool readable(int socket) const;
  [[nodiscard]] bool write_all(int socket, const std::string& bytes) const;

  std::vector<script> scripts_;
  manner how_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};  ///< A pipe; its reading end turns readable when the server stops.
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<int> closed_by_client_{0};
  mutable std::mutex guard_;
  std::vector<std::string> requests_;
  std::vector<std::chrono::system_clock::time_point> arrivals_;
  std::vector<std::thread> workers_;  ///< Touched by the acceptor, then by the destructor.
  std::thread acceptor_;
};

}  // namespace evalcore::test
