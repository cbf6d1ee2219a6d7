#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/plain_reads.hpp"

using namespace evalcore;

namespace {

/// Two sockets, each the other's end; the first is for the code under test, which closes it.
std::array<int, 2> pair_of_sockets() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  return ends;
}

/// As above, over TCP on this machine, of which the system notes when bytes arrive.
std::array<int, 2> pair_over_tcp() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const generic = reinterpret_cast<sockaddr*>(&at);
  REQUIRE(::bind(listener, generic, size) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  REQUIRE(::getsockname(listener, generic, &size) == 0);
  const int mine = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(mine, generic, size) == 0);
  const int other = ::accept(listener, nullptr, nullptr);
  REQUIRE(other >= 0);
  ::close(listener);
  REQUIRE(::fcntl(mine, F_SETFL, O_NONBLOCK) == 0);
  return {mine, other};
}

bool sees_the_end(int socket) {
  char byte = 0;
  const auto got = ::recv(socket, &byte, 1, 0);
  return got == 0 || (got < 0 && errno == ECONNRESET);  // The latter where something was not read.
}

}  // namespace

TEST_CASE("what is closed is heard no more and ended, whoever else holds the socket") {
  boost::asio::io_context context;
  const auto reads = net::make_plain_reads(context);
  const auto [mine, other] = pair_of_sockets();
  int heard = 0;
  reads->add(mine, [&](const auto&, std::string_view, instant, bool) { ++heard; });
  const int held = ::dup(mine);  // As in a process that was forked.
  reads->close(mine);
  CHECK(sees_the_end(other));
  for (int turn = 0; turn < 3; ++turn) context.poll_one();
  CHECK(heard == 0);
  ::close(held);
  ::close(other);
}

TEST_CASE("what a socket brings is heard, then its end, once") {
  boost::asio::io_context context;
  const auto reads = net::make_plain_reads(context);
  REQUIRE(reads);
  const auto [mine, other] = pair_of_sockets();
  std::string text;
  int ends = 0;
  reads->add(mine, [&](const auto& why, std::string_view bytes, instant, bool all) {
    CHECK(all == bytes.empty());  // The end behind the text is known, and yet to come.
    text += bytes;
    if (why) ++ends;
  });
  REQUIRE(::send(other, "hello", 5, 0) == 5);
  ::close(other);
  for (int turn = 0; turn < 5; ++turn) context.poll_one();
  CHECK(text == "hello");
  CHECK(ends == 1);
}

TEST_CASE("what is more than one read takes is heard in the turns that follow, then the end") {
  boost::asio::io_context context;
  const auto reads = net::make_plain_reads(context);
  const auto [mine, other] = pair_of_sockets();
  const std::string sent(100'000, 'x');  // One read takes 65,536.
  std::vector<std::string> heard;
  reads->add(mine, [&](const auto& why, std::string_view bytes, instant, bool all) {
    CHECK(all == (heard.size() > 1));
    heard.emplace_back(why ? "end" : bytes);
  });
  REQUIRE(::send(other, sent.data(), sent.size(), 0) == 100'000);
  ::close(other);
  for (int turn = 0; turn < 6; ++turn) context.poll_one();
  REQUIRE(heard.size() == 3);
  CHECK(heard[0] + heard[1] == sent);
  CHECK(heard[2] == "end");
}

TEST_CASE("an end of what the other side sends does not make a full socket writable") {
  boost::asio::io_context context;
  const auto reads = net::make_plain_reads(context);
  const auto [mine, other] = pair_of_sockets();
  bool ended = false;
  reads->add(mine, [&](const auto& why, std::string_view, instant, bool) { ended = ended || why; });
  const std::string piece(16'384, 'x');
  std::size_t written = 0;
  while (const auto count = reads->write(mine, piece)) written += count;
  int writable = 0;
  reads->when_writable(mine, [&] { ++writable; });
  ::shutdown(other, SHUT_WR);
  for (int turn = 0; turn < 3; ++turn) context.poll_one();
  CHECK(ended);
  CHECK(writable == 0);
  ::close(other);
}

TEST_CASE("who hears may close any socket, of those that were found with it, too") {
  boost::asio::io_context context;
  const auto reads = net::make_plain_reads(context);
  const auto [one, one_end] = pair_of_sockets();
  const auto [two, two_end] = pair_of_sockets();
  int heard = 0;
  const auto close_both = [&](const auto&, std::string_view, instant, bool) {
    ++heard;
    reads->close(one);
    reads->close(two);
  };
  reads->add(one, close_both);
  reads->add(two, close_both);
  REQUIRE(::send(one_end, "a", 1, 0) == 1);
  REQUIRE(::send(two_end, "b", 1, 0) == 1);
  context.poll_one();
  CHECK(heard == 1);
  CHECK(sees_the_end(two_end));
  ::close(one_end);
  ::close(two_end);
}

TEST_CASE("a socket that cannot be waited for ends with an error") {
  boost::asio::io_context context;
  const auto reads = net::make_plain_reads(context);
  const int file = ::open("/proc/self/exe", O_RDONLY);  // epoll takes no regular files.
  REQUIRE(file >= 0);
  bool refused = false;
  reads->add(file, [&](const auto& why, std::string_view, instant, bool) { refused = bool(why); });
  CHECK_FALSE(refused);
  for (int turn = 0; turn < 3; ++turn) context.poll_one();
  CHECK(refused);
}

TEST_CASE("sockets that nobody closed are closed in the end") {
  boost::asio::io_context context;
  const auto [mine, other] = pair_of_sockets();
  {
    const auto reads = net::make_plain_reads(context);
    reads->add(mine, [](const auto&, std::string_view, instant, bool) {});
  }
  CHECK(sees_the_end(other));
  ::close(other);
}

TEST_CASE("bytes are said to have come when they did, not when the loop got to them") {
  using namespace std::chrono_literals;
  boost::asio::io_context context;
  const auto reads = net::make_plain_reads(context);
  const auto [mine, other] = pair_over_tcp();
  std::vector<instant> came;
  reads->add(mine, [&](const auto&, std::string_view, instant at, bool) { came.push_back(at); });
  reads->time_arrivals(mine);
  const auto within_one_turn = [&] {
    const auto before = std::chrono::steady_clock::now();
    REQUIRE(::send(other, "a", 1, 0) == 1);
    const auto sent = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(100ms);  // The thread of the loop does not run.
    came.clear();
    context.run_one_for(1s);
    REQUIRE(came.size() == 1);
    return came[0] >= before - 1ms && came[0] <= sent + 50ms;
  };
  // The system begins to note a moment after it was first asked to.
  bool noted = false;
  for (int turn = 0; turn < 20 && !noted; ++turn) noted = within_one_turn();
  CHECK(noted);
  ::close(other);
}
