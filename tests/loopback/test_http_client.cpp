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
using test::collector;
using test::fault_server;
using test::get;
using test::harness;
using test::ok_hello;
using test::post;
using test::soon;

TEST_CASE("a whole answer is delivered, and the request reaches the server as written") {
  fault_server server({{test::send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: a\r\n\r\nhello")}});
  harness client(server.url());
  const auto sink = client.finish(post("{\"n\":1}"));
  CHECK(sink->wait());
  CHECK(sink->head().status == 200);
  CHECK(sink->head().header("x-ONE") == "a");
  CHECK(sink->body() == "hello");
  CHECK(sink->heads() == 1);
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0] ==
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
            "\r\nAccept-Encoding: identity\r\nContent-Type: application/json\r\nContent-Length: 7\r\n"
            "Connection: keep-alive\r\n\r\n{\"n\":1}");
}

TEST_CASE("a get has no body and says so by having no length") {
  fault_server server({{test::send(ok_hello)}});
  harness client(server.url());
  CHECK(client.finish(get("/health?x=1"))->wait());
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0] ==
        "GET /health?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
            "\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n\r\n");
}

TEST_CASE("the name localhost is resolved") {
  fault_server server({{test::send(ok_hello)}});
  harness client("http://localhost:" + std::to_string(server.port()));
  CHECK(client.finish()->wait());
  CHECK(client.finish()->body() == "hello");
}

TEST_CASE("a kept-alive connection is used again") {
  fault_server server({{test::send(ok_hello)}});
  harness client(server.url());
  for (int i = 0; i < 5; ++i) CHECK(client.finish()->body() == "hello");
  CHECK(server.connections() == 1);
  CHECK(server.requests().size() == 5);
}

TEST_CASE("a connection that is not to be kept is closed") {
  const std::vector<std::string> answers{
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n",
  };
  for (const auto& answer : answers) {
    CAPTURE(answer);
    fault_server server({{test::send(answer)}});
    harness client(server.url());
    CHECK(client.finish()->body() == "ok");
    CHECK(client.finish()->body() == "ok");
    CHECK(server.connections() == 2);
    CHECK(soon([&] { return server.closed_by_client() == 2; }));
  }
}

TEST_CASE("bytes that come after the answer end the connection, not the next exchange") {
  fault_server server({{test::send(ok_hello), test::pause(50ms), test::send("HTTP/1.1 500 Oops\r\n")},
                       {test::send(ok_hello)}});
  harness client(server.url());
  CHECK(client.finish()->wait());
  REQUIRE(soon([&] { return server.closed_by_client() == 1; }));
  const auto second = client.finish();
  CHECK(second->wait());
  CHECK(second->head().status == 200);
  CHECK(server.connections() == 2);
}

TEST_CASE("what follows an answer that fills the read buffer is not the next answer") {
  constexpr std::size_t buffer_bytes = 16384;
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 16334\r\nX: 012\r\n\r\n";
  const std::string answer = head + std::string(buffer_bytes - head.size(), 'a');
  REQUIRE(answer.size() - head.size() == 16334);
  fault_server server(
      {{test::send(answer + "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")}, {test::send(ok_hello)}});
  harness client(server.url());
  CHECK(client.finish()->wait());
  const auto second = client.finish();
  CHECK(second->wait());
  CHECK(second->head().status == 200);
  CHECK(second->body() == "hello");
}

TEST_CASE("a connection that the server closed while idle is not used") {
  fault_server server({{test::send(ok_hello), test::close()}});
  harness client(server.url());
  for (int i = 0; i < 20; ++i) CHECK(client.finish()->wait());
  // Each request was read once: where the close was seen in time nothing was sent on it.
  CHECK(server.requests().size() == 20);
  CHECK(server.connections() == 20);
}

TEST_CASE("a request lost on a kept-alive connection is sent once more, on a new one") {
  // The second request is read on the old connection and dropped: as when the server's close and the
  // request cross.
  for (const auto& fault : {test::close(), test::reset()}) {
    fault_server server({{test::send(ok_hello)}, {fault}, {test::send(ok_hello)}});
    harness client(server.url());
    CHECK(client.finish()->wait());
    const auto second = client.finish();
    CHECK(second->wait());
    CHECK(second->body() == "hello");
    CHECK(second->heads() == 1);
    CHECK(server.connections() == 2);
    CHECK(server.requests().size() == 3);
    CHECK(server.requests()[1] == server.requests()[2]);
  }
}

TEST_CASE("a request lost on a new connection is not sent again") {
  for (const auto& fault : {test::close(), test::reset()}) {
    fault_server server({{fault}});
    harness client(server.url());
    const auto outcome = client.finish()->wait();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::transport);
    CHECK(outcome.error().at == stage::first_byte);
    CHECK(server.requests().size() == 1);
  }
}

TEST_CASE("a request is not sent again once a byte of its answer was seen") {
  fault_server server({{test::send(ok_hello)}, {test::send("HTTP"), test::reset()}, {test::send(ok_hello)}});
  harness client(server.url());
  CHECK(client.finish()->wait());
  CHECK_FALSE(client.finish()->wait());
  CHECK(server.requests().size() == 2);
}

TEST_CASE("chunk extensions and trailers are read past") {
  fault_server server(
      {{test::send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "3;a=b;c=\"d e\"\r\nabc\r\n2\r\nde\r\n0;last\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n")}});
  harness client(server.url());
  const auto sink = client.finish();
  CHECK(sink->wait());
  CHECK(sink->body() == "abcde");
  CHECK(sink->head().headers.size() == 1);
  CHECK(client.finish()->wait());
  CHECK(server.connections() == 1);
}

TEST_CASE("a body without a length ends with the connection") {
  for (const char* version : {"HTTP/1.0", "HTTP/1.1"}) {
    fault_server server({{test::send(std::string(version) + " 200 OK\r\n\r\nabc"), test::pause(20ms),
                          test::send("def"), test::close()}});
    harness client(server.url());
    const auto sink = client.finish();
    CHECK(sink->wait());
    CHECK(sink->body() == "abcdef");
  }
}

TEST_CASE("an answer that comes before the request is read is still an answer") {
  // The server reads the head, refuses, and resets what is still being written.
  fault_server server({{test::send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")}},
                      fault_server::manner::answers_heads);
  harness client(server.url());
  const auto sink = client.finish(post(std::string(32'000'000, 'x')));
  CHECK(sink->wait());
  CHECK(sink->head().status == 413);
  CHECK(sink->body() == "big");
}

TEST_CASE("the body is delivered as it arrives") {
  fault_server server(
      {{test::send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none,\r\n"), test::stall()}});
  harness client(server.url());
  const auto sink = client.start();
  sink->wait_for_body(4);
  CHECK(sink->body() == "one,");
  CHECK(sink->ends() == 0);
}

TEST_CASE("cancelling ends the exchange at once and closes the socket") {
  fault_server server({{test::send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), test::stall()}});
  harness client(server.url());
  const auto sink = client.start();
  sink->wait_for_body(4);
  const auto asked = std::chrono::steady_clock::now();
  client.cancel_last();
  const auto outcome = sink->wait();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::cancelled);
  CHECK(sink->ended_at() - asked < 500ms);
  CHECK(soon([&] { return server.closed_by_client() == 1; }));
  client.cancel_last();
  client.loop().run_and_wait([] {});
  CHECK(sink->ends() == 1);
}

TEST_CASE("an exchange can be cancelled before it began") {
  fault_server server({{test::send(ok_hello)}});
  net::loop loop;
  const auto sink = std::make_shared<collector>();
  std::unique_ptr<net::http_client> client;
  loop.run_and_wait([&] {
    client = std::make_unique<net::http_client>(loop, *net::parse_url(server.url()));
    client->cancel(client->start(post("{}"), sink));
  });
  CHECK(sink->wait().error().code == errc::cancelled);
  loop.run_and_wait([&] { client.reset(); });
  CHECK(sink->ends() == 1);
  CHECK(server.requests().empty());
}

TEST_CASE("destroying the client ends what is open") {
  fault_server server({{test::stall()}});
  harness client(server.url());
  std::vector<std::shared_ptr<collector>> sinks;
  for (int i = 0; i < 8; ++i) sinks.push_back(client.start());
  REQUIRE(soon([&] { return server.requests().size() == 8; }));
  sinks.push_back(client.start());
  client.destroy_client();
  for (const auto& sink : sinks) {
    CHECK(sink->ends() == 1);
    CHECK(sink->wait().error().code == errc::closed);
  }
}

TEST_CASE("sixty-four exchanges at once, then again on the same connections") {
  fault_server server({{test::pause(20ms), test::send(ok_hello)}});
  harness client(server.url());
  for (int round = 0; round < 2; ++round) {
    std::vector<std::shared_ptr<collector>> sinks;
    client.loop().run_and_wait([&] {
      for (int i = 0; i < 64; ++i) sinks.push_back(client.start(post("{\"n\":" + std::to_string(i) + "}")));
    });
    for (const auto& sink : sinks) {
      CHECK(sink->wait());
      CHECK(sink->body() == "hello");
    }
  }
  CHECK(server.requests().size() == 128);
  // On a slow machine early ones end before late ones connect, and lend them their connections.
  CHECK(server.connections() <= 64);
  CHECK(server.connections() >= 2);
}

TEST_CASE("a request that no socket takes at once is written whole") {
  std::string body;
  for (int i = 0; i < 2'000'000; ++i) body += std::to_string(i) + ",";
  fault_server server({{test::send(ok_hello)}});
  harness client(server.url());
  const auto sink = client.finish(post(body));
  CHECK(sink->wait());
  REQUIRE(server.requests().size() == 1);
  const auto request = server.requests()[0];
  CHECK(request.substr(request.find("\r\n\r\n") + 4) == body);
}

TEST_CASE("a large answer arrives whole") {
  std::string body;
  for (int i = 0; i < 400'000; ++i) body += std::to_string(i) + ",";
  fault_server server({{test::send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                                   "\r\n\r\n" + body)}});
  harness client(server.url());
  const auto sink = client.finish();
  CHECK(sink->wait());
  CHECK(sink->body() == body);
}
