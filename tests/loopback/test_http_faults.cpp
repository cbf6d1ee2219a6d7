#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <evalcore/net/http_client.hpp>

#include "loopback/fault_server.hpp"
#include "loopback/http_harness.hpp"

using namespace evalcore;
using namespace std::chrono_literals;
using test::fault_server;
using test::harness;
using test::only;
using test::post;
using test::soon;

TEST_CASE("a refused connection and an unknown host are named") {
  std::uint16_t free_port = 0;
  {
    const fault_server gone({{test::close()}});
    free_port = gone.port();
  }
  const std::string peer = "127.0.0.1:" + std::to_string(free_port);
  harness client("http://" + peer);
  const auto refused = client.finish()->wait();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::transport);
  CHECK(refused.error().at == stage::connect);
  CHECK(refused.error().message == "cannot connect to " + peer + ": connection refused");

  // RFC 2606 reserves .invalid: it never resolves.
  harness nowhere("http://model.invalid:80");
  const auto unknown = nowhere.finish()->wait();
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == errc::transport);
  CHECK(unknown.error().at == stage::connect);
  CHECK(unknown.error().message.starts_with("cannot find the host model.invalid: "));
}

TEST_CASE("silence ends in a timeout that names its deadline") {
  struct row {
    test::script acts;
    duration net::deadlines::* bound;
    stage at;
    std::string words;
  };
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
  const std::vector<row> rows{
      {{test::stall()}, &net::deadlines::first_byte, stage::first_byte, "0.15 s (first-byte deadline)"},
      {{test::send(head + "half"), test::stall()},
       &net::deadlines::idle,
       stage::body,
       "0.15 s in its answer (idle"},
      {{test::send("HTTP/1.1 2"), test::stall()}, &net::deadlines::idle, stage::body, "(idle deadline)"},
      {{test::stall()}, &net::deadlines::attempt, stage::first_byte, "0.15 s (attempt deadline)"},
  };
  for (const auto& expected : rows) {
    CAPTURE(expected.words);
    fault_server server({expected.acts});
    harness client(server.url());
    const auto began = std::chrono::steady_clock::now();
    const auto sink = client.finish(post("{}", only(expected.bound, 150ms)));
    const auto outcome = sink->wait();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::timeout);
    CHECK(outcome.error().at == expected.at);
    CHECK(outcome.error().message.find(expected.words) != std::string::npos);
    CHECK(sink->ended_at() - began >= 150ms);
    CHECK(sink->ended_at() - began < 5s);
    CHECK(soon([&] { return server.closed_by_client() == 1; }));
  }
}

TEST_CASE("a server that takes nothing of the request is noticed") {
  fault_server server({}, fault_server::manner::never_reads);
  harness client(server.url());
  const auto outcome =
      client.finish(post(std::string(32'000'000, 'x'), only(&net::deadlines::idle, 200ms)))->wait();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::timeout);
  CHECK(outcome.error().at == stage::send);
}

TEST_CASE("a slow drip is alive for the idle deadline and bounded by the attempt's") {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nabcdefghijkl";
  fault_server server({{test::drip(answer, 15ms)}});
  harness patient(server.url());
  const auto whole = patient.finish(post("{}", only(&net::deadlines::idle, 300ms)));
  CHECK(whole->wait());
  CHECK(whole->body() == "abcdefghijkl");

  harness hurried(server.url());
  const auto cut = hurried.finish(post("{}", {10s, 10s, 10s, 250ms}))->wait();
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == errc::timeout);
  CHECK(cut.error().at == stage::body);
}

TEST_CASE("an answer that ends early is truncated, one that breaks is a transport error") {
  struct row {
    test::script acts;
    errc code;
  };
  const std::string with_length = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::vector<row> rows{
      {{test::send(with_length), test::close()}, errc::truncated},
      {{test::send(chunked + "a\r\nhalf"), test::close()}, errc::truncated},
      {{test::send(chunked + "4\r\nhalf\r\n"), test::close()}, errc::truncated},
      {{test::send(chunked + "4\r\nhalf\r\n0\r\n"), test::close()}, errc::truncated},
      {{test::send("HTTP/1.1 200 OK\r\nContent-Le"), test::close()}, errc::truncated},
      {{test::send(with_length), test::pause(30ms), test::reset()}, errc::transport},
  };
  for (const auto& expected : rows) {
    CAPTURE(expected.acts[0].bytes);
    fault_server server({expected.acts});
    harness client(server.url());
    const auto outcome = client.finish()->wait();
    REQUIRE_FALSE(outcome);
    CHECK(name(outcome.error().code) == name(expected.code));
    CHECK(outcome.error().message.find("127.0.0.1:" + std::to_string(server.port())) != std::string::npos);
    CHECK(server.requests().size() == 1);
  }
}

TEST_CASE("contradictory framing is refused") {
  for (const char* head :
       {"Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5"}) {
    CAPTURE(head);
    fault_server server(
        {{test::send("HTTP/1.1 200 OK\r\n" + std::string(head) + "\r\n\r\nhello"), test::stall()}});
    harness client(server.url());
    const auto sink = client.finish();
    const auto outcome = sink->wait();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::bad_reply);
    CHECK(sink->heads() == 0);
  }
}

TEST_CASE("a flood is cut at the limit") {
  net::http_limits small;
  small.body_bytes = 100'000;
  const std::string block(10'000, 'x');
  const std::vector<test::script> floods{
      {test::send("HTTP/1.1 200 OK\r\n"), test::endless("X-Flood: " + block + "\r\n")},
      {test::send("HTTP/1.1 200 OK\r\n"), test::endless("X: y\r\n")},
      {test::send("HTTP/1.1 200 OK\r\nX-Long: "), test::endless(block)},
      {test::send("HTTP/1.1 200 OK\r\n\r\n"), test::endless(block)},
      {test::send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
       test::endless("2710\r\n" + block + "\r\n")},
      {test::send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x="), test::endless(block)},
      {test::send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"), test::endless("T: y\r\n")},
      {test::endless("HTTP/1.1 100 Continue\r\n\r\n")},
  };
  for (const auto& flood : floods) {
    CAPTURE(flood[0].bytes);
    fault_server server({flood});
    harness client(server.url(), small);
    const auto sink = client.finish();
    const auto outcome = sink->wait();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::bad_reply);
    CHECK(sink->body().size() <= small.body_bytes);
  }
}
