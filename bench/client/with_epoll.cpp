// Nothing but system calls: what a client that reads no answer would reach.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "load.hpp"

namespace {

/// Where the answer ends by its Content-Length; 0: not yet.
bool whole(std::string_view answer) {
  constexpr std::string_view field = "Content-Length: ";
  const auto head = answer.find("\r\n\r\n");
  const auto at = answer.find(field);
  if (head == std::string_view::npos || at > head) return false;
  std::size_t length = 0;
  std::from_chars(answer.data() + at + field.size(), answer.data() + head, length);
  return answer.size() >= head + 4 + length;
}

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) give_up("cannot connect");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

void ask(int fd, const std::string& request) {
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    give_up("cannot write");
  }
}

}  // namespace

figures with_epoll(const load& what) {
  const std::string request = request_bytes(what);
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> sockets;
  std::vector<std::string> answers(what.in_flight);
  for (unsigned i = 0; i < what.in_flight; ++i) {
    sockets.push_back(connect_to(what.port));
    epoll_event wish{};
    wish.events = EPOLLIN;
    wish.data.u32 = i;
    ::epoll_ctl(poller, EPOLL_CTL_ADD, sockets[i], &wish);
  }
  meter count(what);
  for (const int fd : sockets) ask(fd, request);
  std::array<epoll_event, 256> events{};
  std::array<char, 16384> piece{};
  for (unsigned open = what.in_flight; open > 0;) {
    const int ready = ::epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      const unsigned which = events[static_cast<std::size_t>(i)].data.u32;
      const ssize_t got = ::recv(sockets[which], piece.data(), piece.size(), 0);
      if (got <= 0) give_up("cannot read");
      answers[which].append(piece.data(), static_cast<std::size_t>(got));
      if (!whole(answers[which])) continue;
      answers[which].clear();
      if (count.answered()) {
        ask(sockets[which], request);
      } else {
        --open;
      }
    }
  }
  for (const int fd : sockets) ::close(fd);
  ::close(poller);
  return count.seen();
}
