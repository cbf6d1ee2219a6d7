#include "loopback/fault_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace evalcore::test {
namespace {

void require(bool held, const char* what) {
  if (!held) throw std::runtime_error(std::string("fault server: ") + what);
}

/// The body's length by its header, 0 without one. Written for the requests of tests.
std::size_t announced_length(const std::string& head) {
  const std::string name = "\r\nContent-Length: ";
  const auto at = head.find(name);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + name.size()));
}

}  // namespace

act send(std::string bytes) { return {act::kind::send, std::move(bytes), {}}; }
act drip(std::string bytes, std::chrono::milliseconds gap) {
  return {act::kind::drip, std::move(bytes), gap};
}
act pause(std::chrono::milliseconds span) { return {act::kind::pause, {}, span}; }
act stall() { return {act::kind::stall, {}, {}}; }
act endless(std::string bytes) { return {act::kind::endless, std::move(bytes), {}}; }
act reset() { return {act::kind::reset, {}, {}}; }
act close() { return {act::kind::close, {}, {}}; }

fault_server::fault_server(std::vector<script> scripts, manner how, const place& at)
    : scripts_(std::move(scripts)), how_(how) {
  require(!scripts_.empty() || how == manner::never_reads, "no script");
  require(::pipe2(stop_, O_CLOEXEC) == 0, "pipe");
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(listener_ >= 0, "socket");
  // A server that comes back finds the connections of the one before it still closing.
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(at.port);
  require(::inet_pton(AF_INET, at.address.c_str(), &address.sin_addr) == 1, "address");
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  require(::bind(listener_, plain, length) == 0, "bind");
  require(::listen(listener_, 256) == 0, "listen");
  require(::getsockname(listener_, plain, &length) == 0, "getsockname");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

fault_server::~fault_server() {
  ::close(stop_[1]);
  acceptor_.join();
  for (auto& worker : workers_) worker.join();
  ::close(listener_);
  ::close(stop_[0]);
}

std::vector<std::string> fault_server::requests() const {
  const std::lock_guard lock(guard_);
  return requests_;
}

std::vector<std::chrono::system_clock::time_point> fault_server::arrivals() const {
  const std::lock_guard lock(guard_);
  return arrivals_;
}

void fault_server::accept_all() {
  while (readable(listener_)) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    ++connections_;
    workers_.emplace_back([this, socket] { serve(socket); });
  }
}

void fault_server::serve(int socket) {
  std::string carry;
  std::string text;
  bool open = true;
  if (how_ == manner::never_reads) open = play(socket, {pause(std::chrono::hours(1))});
  while (open && read_request(socket, text, carry)) {
    std::size_t number = 0;
    {
      const std::lock_guard lock(guard_);
      number = requests_.size();
      requests_.push_back(text);
      arrivals_.push_back(std::chrono::system_clock::now());
    }
    open = play(socket, scripts_[std::min(number, scripts_.size() - 1)]);
    if (how_ == manner::answers_heads) open = false;
  }
  ::close(socket);
}

bool fault_server::read_request(int socket, std::string& text, std::string& carry) {
  text = std::exchange(carry, {});
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto head_end = text.find("\r\n\r\n");
    if (head_end != std::string::npos) {
      const bool body_too = how_ == manner::answers;
      const std::size_t whole = head_end + 4 + (body_too ? announced_length(text.substr(0, head_end)) : 0);
      if (text.size() >= whole) {
        carry = text.substr(whole);
        text.resize(whole);
        return true;
      }
    }
    if (!readable(socket)) return false;
    const auto got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      ++closed_by_client_;
      return false;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// False when the connection is over.
bool fault_server::play(int socket, const script& acts) {
  for (const act& one : acts) {
    switch (one.what) {
      case act::kind::send:
        if (!write_all(socket, one.bytes)) return false;
        break;
      case act::kind::drip:
        for (const char byte : one.bytes) {
          if (!write_all(socket, std::string(1, byte)) || !sleep(one.span)) return false;
        }
        break;
      case act::kind::pause:
        if (!sleep(one.span)) return false;
        break;
      case act::kind::stall: {
        char byte = 0;
        if (readable(socket) && ::recv(socket, &byte, 1, 0) <= 0) ++closed_by_client_;
        return false;
      }
      case act::kind::endless:
        while (write_all(socket, one.bytes)) {
        }
        return false;
      case act::kind::reset: {
        const linger at_once{1, 0};
        ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        return false;
      }
      case act::kind::close:
        return false;
    }
  }
  return true;
}

/// False when the server stops first.
bool fault_server::sleep(std::chrono::milliseconds span) const {
  pollfd stop{stop_[0], POLLIN, 0};
  return ::poll(&stop, 1, static_cast<int>(span.count())) == 0;
}

/// Waits; false when the server stops first.
bool fault_server::readable(int socket) const {
  std::array<pollfd, 2> both{pollfd{stop_[0], POLLIN, 0}, pollfd{socket, POLLIN, 0}};
  return ::poll(both.data(), both.size(), -1) > 0 && both[0].revents == 0;
}

bool fault_server::write_all(int socket, const std::string& bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    std::array<pollfd, 2> both{pollfd{stop_[0], POLLIN, 0}, pollfd{socket, POLLOUT, 0}};
    if (::poll(both.data(), both.size(), -1) <= 0 || both[0].revents != 0) return false;
    const auto sent = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace evalcore::test
