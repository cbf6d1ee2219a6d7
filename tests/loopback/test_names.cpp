#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "loopback/fault_server.hpp"
#include "loopback/http_harness.hpp"
#include "loopback/name_table.hpp"

using namespace evalcore;
using namespace std::chrono_literals;
using test::fault_server;
using test::harness;
using test::ok_hello;

namespace {

sockaddr_in address_of(const char* host, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, host, &out.sin_addr);
  return out;
}

/// An address that swallows what is sent to it, as a dead host does: a socket that listens, with its queue
/// full, makes Linux drop the requests for further connections.
class black_hole {
 public:
  black_hole(const char* host, std::uint16_t port) {
    const sockaddr_in at = address_of(host, port);
    const auto* plain = reinterpret_cast<const sockaddr*>(&at);
    sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(sockets_[0], plain, sizeof(at)) == 0);
    REQUIRE(::listen(sockets_[0], 0) == 0);
    for (int i = 0; i < 4; ++i) {
      sockets_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      static_cast<void>(::connect(sockets_.back(), plain, sizeof(at)));
    }
  }
  ~black_hole() {
    for (const int socket : sockets_) ::close(socket);
  }
  black_hole(const black_hole&) = delete;
  black_hole& operator=(const black_hole&) = delete;

 private:
  std::vector<int> sockets_;
};

std::string url_of(const char* name, const fault_server& server) {
  return "http://" + std::string(name) + ":" + std::to_string(server.port());
}

duration time_of(harness& client) {
  const auto begun = std::chrono::steady_clock::now();
  const auto sink = client.finish();
  CHECK(sink->wait());
  return sink->ended_at() - begun;
}

}  // namespace

TEST_CASE("a dead first address costs a quarter of a second, and only once") {
  fault_server server({{test::send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")}});
  const black_hole dead("127.0.0.2", server.port());
  test::set_addresses("model.test", {"127.0.0.2", "127.0.0.1"});
  harness client(url_of("model.test", server));
  const auto first = time_of(client);
  CHECK(first >= 250ms);
  // 300 ms on a machine at rest; the rest is for busy ones. Linux would send its request again after 1 s.
  CHECK(first < 900ms);
  const int before = test::lookups();
  CHECK(time_of(client) < 250ms);
  CHECK(test::lookups() == before);
}

TEST_CASE("an address that refuses costs nothing") {
  fault_server server({{test::send(ok_hello)}});
  test::set_addresses("model.test", {"127.0.0.2", "127.0.0.3", "127.0.0.1"});
  harness client(url_of("model.test", server));
  CHECK(time_of(client) < 250ms);
}

TEST_CASE("when every address fails, the next exchange looks the name up again") {
  fault_server server({{test::send(ok_hello)}});
  test::set_addresses("model.test", {"127.0.0.2", "127.0.0.3"});
  harness client(url_of("model.test", server));
  const int before = test::lookups();
  const auto refused = client.finish()->wait();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::transport);
  CHECK(refused.error().at == stage::connect);
  test::set_addresses("model.test", {"127.0.0.1"});
  CHECK(client.finish()->wait());
  CHECK(test::lookups() == before + 2);
}

TEST_CASE("a name is looked up again after the connect deadline has passed") {
  fault_server server({{test::send(ok_hello)}});
  const black_hole dead("127.0.0.2", server.port());
  test::set_addresses("model.test", {"127.0.0.2"});
  harness client(url_of("model.test", server));
  const auto late = client.finish(test::post("{}", test::only(&net::deadlines::connect, 100ms)))->wait();
  REQUIRE_FALSE(late);
  CHECK(late.error().code == errc::timeout);
  CHECK(late.error().at == stage::connect);
  test::set_addresses("model.test", {"127.0.0.1"});
  CHECK(client.finish()->wait());
}

TEST_CASE("cancelling in the race ends it at once") {
  fault_server server({{test::send(ok_hello)}});
  const black_hole second("127.0.0.2", server.port());
  const black_hole third("127.0.0.3", server.port());
  test::set_addresses("model.test", {"127.0.0.2", "127.0.0.3"});
  harness client(url_of("model.test", server));
  const auto sink = client.start();
  std::this_thread::sleep_for(300ms);
  client.cancel_last();
  CHECK(sink->wait().error().code == errc::cancelled);
  const auto again = client.start();
  client.destroy_client();
  CHECK(again->wait().error().code == errc::closed);
}

TEST_CASE("proxies that the environment names are not used") {
  fault_server server({{test::send(ok_hello)}});
  fault_server proxy({{test::send(ok_hello)}});
  test::set_addresses("model.test", {"127.0.0.1"});
  for (const char* variable : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"}) {
    ::setenv(variable, proxy.url().c_str(), 1);
  }
  harness client(url_of("model.test", server));
  CHECK(client.finish()->wait());
  for (const char* variable : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"}) {
    ::unsetenv(variable);
  }
  CHECK(proxy.connections() == 0);
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0].starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
}
