#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
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
  reads->add(mine, [&](const auto&, std::string_view, bool) { ++heard; });
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
  reads->add(mine, [&](const auto& why, std::string_view bytes, bool all) {
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
  reads->add(mine, [&](const auto& why, std::string_view bytes, bool all) {
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
  reads->add(mine, [&](const auto& why, std::string_view, bool) { ended = ended || why; });
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
  const auto close_both = [&](const auto&, std::string_view, bool) {
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
  reads->add(file, [&](const auto& why, std::string_view, bool) { refused = bool(why); });
  CHECK_FALSE(refused);
  for (int turn = 0; turn < 3; ++turn) context.poll_one();
  CHECK(refused);
}

TEST_CASE("sockets that nobody closed are closed in the end") {
  boost::asio::io_context context;
  const auto [mine, other] = pair_of_sockets();
  {
    const auto reads = net::make_plain_reads(context);
    reads->add(mine, [](const auto&, std::string_view, bool) {});
  }
  CHECK(sees_the_end(other));
  ::close(other);
}
