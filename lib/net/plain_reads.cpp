#include "net/plain_reads.hpp"

#if defined(__linux__)

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/timed_receive.hpp"

namespace evalcore::net {
namespace {

/// What is heard in one turn of the loop, so that what was posted meanwhile is not kept waiting.
constexpr std::size_t most_at_once = 128;
constexpr std::size_t buffer_bytes = std::size_t{64} * 1024;

class epoll_reads final : public plain_reads {
 public:
  epoll_reads(boost::asio::io_context& context, int poller)
      : poller_(context, poller), buffer_(buffer_bytes) {}
  ~epoll_reads() override {
    // Whoever hears of a socket may close it when it goes.
    for (const auto left = std::exchange(sockets_, {}); const auto& [socket, one] : left) ::close(socket);
  }
  epoll_reads(const epoll_reads&) = delete;
  epoll_reads& operator=(const epoll_reads&) = delete;

  void add(int socket, heard to) override {
    auto& one = sockets_[socket];
    one = std::make_unique<entry>(entry{socket, std::move(to), nullptr, false});
    if (!ask(EPOLL_CTL_ADD, *one)) refuse(socket, {errno, boost::system::system_category()});
    if (!waits_) wait();
  }

  void close(int socket) override {
    auto gone = sockets_.extract(socket);
    if (!gone) return;
    // A process that was forked from this one may hold the socket, too; then closing it ends neither its
    // events, which point to what is freed here, nor the connection.
    ask(EPOLL_CTL_DEL, *gone.mapped());
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    gone.mapped()->socket = closed;
    // It may be the one that is being called, or be among those that were found.
    if (looking_) closed_.push_back(std::move(gone.mapped()));
  }

  void time_arrivals(int socket) override {
    auto& one = *sockets_.at(socket);
    if (!std::exchange(one.timed, true)) note_arrivals(socket);
  }

  void when_writable(int socket, std::function<void()> then) override {
    auto& one = *sockets_.at(socket);
    one.writable = std::move(then);
    ask(EPOLL_CTL_MOD, one);
  }

  [[nodiscard]] std::size_t write(int socket, std::string_view bytes) override {
    const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }

  [[nodiscard]] bool silent(int socket) override {
    char byte = 0;
    return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

 private:
  static constexpr int closed = -1;

  struct entry {
    int socket;
    heard to;
    std::function<void()> writable;
    bool timed;
  };

  /// Each arrival is told of once. Else the system looks a second time at each socket that it told of, to see
  /// whether anything is left.
  bool ask(int what, entry& of) {
    epoll_event wish{};
    wish.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
    if (of.writable) wish.events |= EPOLLOUT;
    wish.data.ptr = &of;
    return ::epoll_ctl(poller_.native_handle(), what, of.socket, &wish) == 0;
  }

  /// Whoever has added the socket hears of it once it has returned.
  void refuse(int socket, const error_code& why) {
    boost::asio::post(poller_.get_executor(), [this, socket, why] {
      const auto found = sockets_.find(socket);
      if (found == sockets_.end()) return;
      const auto to = found->second->to;
      to(why, {}, std::chrono::steady_clock::now(), true);
    });
  }

  void wait() {
    waits_ = true;
    poller_.async_wait(decltype(poller_)::wait_read, [this](const error_code& why) {
      if (why) return;
      look();
      wait();
    });
  }

  void look() {
    std::array<epoll_event, most_at_once> found;
    const int count = ::epoll_wait(poller_.native_handle(), found.data(), static_cast<int>(found.size()), 0);
    looking_ = true;
    for (int i = 0; i < count; ++i) {
      const auto& event = found[static_cast<std::size_t>(i)];
      entry& one = *static_cast<entry*>(event.data.ptr);
      if (one.socket != closed && one.writable && (event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) {
        const auto then = std::exchange(one.writable, nullptr);
        ask(EPOLL_CTL_MOD, one);
        then();
      }
      if (one.socket != closed && (event.events & ~std::uint32_t{EPOLLOUT}) != 0) read(one, event.events);
    }
    looking_ = false;
    closed_.clear();
  }

  void read(entry& from, std::uint32_t told) {
    const auto [got, came] = from.timed ? receive_timed(from.socket, buffer_) : receive(from.socket, buffer_);
    const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    if (bytes > 0) {
      // More, or an end or a failure behind it: in the next turn, after what others have.
      const bool end = (told & ~std::uint32_t{EPOLLIN | EPOLLOUT}) != 0;
      const bool all = bytes < buffer_.size() && !end;
      from.to({}, {buffer_.data(), bytes}, came, all);
      if (!all && from.socket != closed) ask(EPOLL_CTL_MOD, from);
      return;
    }
    const int why = got < 0 ? errno : 0;
    if (why == EINTR) ask(EPOLL_CTL_MOD, from);
    if (why == EINTR || why == EAGAIN) return;
    // Nothing more comes, and the system would say so again and again.
    ask(EPOLL_CTL_DEL, from);
    from.to(got < 0 ? error_code(why, boost::system::system_category()) : error_code(boost::asio::error::eof),
            {}, std::chrono::steady_clock::now(), true);
  }

  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> poller_;
  std::unordered_map<int, std::unique_ptr<entry>> sockets_;
  std::vector<std::unique_ptr<entry>> closed_;  ///< While looking.
  std::vector<char> buffer_;
  bool waits_ = false;
  bool looking_ = false;
};

}  // namespace

std::unique_ptr<plain_reads> make_plain_reads(boost::asio::io_context& context) {
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  return poller < 0 ? nullptr : std::make_unique<epoll_reads>(context, poller);
}

}  // namespace evalcore::net

#else

namespace evalcore::net {

std::unique_ptr<plain_reads> make_plain_reads(boost::asio::io_context& /*context*/) { return nullptr; }

}  // namespace evalcore::net

#endif
