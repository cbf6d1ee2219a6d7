#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "loopback/fault_server.hpp"
#include "loopback/http_harness.hpp"

using namespace evalcore;
using test::fault_server;
using test::harness;
using test::ok_hello;

TEST_CASE("a redirect of a post is an answer and nobody is asked again") {
  fault_server other({{test::send(ok_hello)}});
  const std::vector<std::string> places{
      "/v1/chat/completions",       // A loop.
      "/elsewhere",                 // The same origin.
      other.url() + "/v1/collect",  // Another origin.
      "//127.0.0.1:" + std::to_string(other.port()) + "/v1/collect",
      "file:///etc/passwd",
  };
  for (const char* status : {"301", "302", "303", "307", "308"}) {
    for (const auto& place : places) {
      CAPTURE(status);
      CAPTURE(place);
      fault_server server({{test::send("HTTP/1.1 " + std::string(status) + " Moved\r\nLocation: " + place +
                                       "\r\nContent-Length: 5\r\n\r\nmoved")}});
      harness client(server.url());
      const auto sink = client.finish();
      CHECK(sink->wait());
      CHECK(std::to_string(sink->head().status) == status);
      CHECK(sink->head().header("location") == place);
      CHECK(sink->body() == "moved");
      CHECK(server.requests().size() == 1);
    }
  }
  CHECK(other.connections() == 0);
}

TEST_CASE("an answer that comes compressed is refused, not unpacked") {
  for (const char* coding : {"gzip", "GZip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip",
                             "identity\r\nContent-Encoding: gzip", "unheard-of"}) {
    CAPTURE(coding);
    fault_server server({{test::send("HTTP/1.1 200 OK\r\nContent-Encoding: " + std::string(coding) +
                                     "\r\nContent-Length: 5\r\n\r\nhello")}});
    harness client(server.url());
    const auto sink = client.finish();
    const auto outcome = sink->wait();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::bad_reply);
    CHECK(outcome.error().at == stage::body);
    CHECK(outcome.error().message ==
          "127.0.0.1:" + std::to_string(server.port()) +
              ": the answer is compressed, though it was asked for as it is; switch compression off in the "
              "server or in the proxy before it");
    CHECK(sink->heads() == 0);
    CHECK(sink->body().empty());
    CHECK(test::soon([&] { return server.closed_by_client() == 1; }));
  }
}

TEST_CASE("an answer that says that it is as it is passes") {
  for (const char* coding : {"identity", "Identity", ""}) {
    fault_server server({{test::send("HTTP/1.1 200 OK\r\nContent-Encoding: " + std::string(coding) +
                                     "\r\nContent-Length: 5\r\n\r\nhello")}});
    harness client(server.url());
    CHECK(client.finish()->body() == "hello");
  }
}

TEST_CASE("of a refusal that comes compressed the head is kept and the body dropped") {
  fault_server server({{test::send("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Encoding: gzip\r\n"
                                   "Content-Length: 5\r\n\r\nzzzzz")},
                       {test::send(ok_hello)}});
  harness client(server.url());
  const auto sink = client.finish();
  CHECK(sink->wait());
  CHECK(sink->head().status == 429);
  CHECK(sink->head().header("retry-after") == "7");
  CHECK(sink->body().empty());
  CHECK(client.finish()->body() == "hello");
  CHECK(server.connections() == 1);
}
