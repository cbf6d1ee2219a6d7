#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <evalcore/net/http_client.hpp>

#include "loopback/fault_server.hpp"

using namespace evalcore;
using namespace std::chrono_literals;
using test::fault_server;

namespace {

/// Collects on the loop, is asked on the test's thread.
class collector final : public net::http_sink {
 public:
  void on_head(const net::http_head& head) override {
    const std::lock_guard lock(guard_);
    ++heads_;
    head_ = head;
  }
  void on_body(std::string_view piece, instant) override {
    const std::lock_guard lock(guard_);
    body_ += piece;
    ++pieces_;
    changed_.notify_all();
  }
  void on_end(result<void> outcome) override {
    const std::lock_guard lock(guard_);
    ++ends_;
    ended_at_ = std::chrono::steady_clock::now();
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }

  result<void> wait() {
    std::unique_lock lock(guard_);
    REQUIRE(changed_.wait_for(lock, 20s, [&] { return outcome_.has_value(); }));
    return *outcome_;
  }
  void wait_for_body(std::size_t bytes) {
    std::unique_lock lock(guard_);
    REQUIRE(changed_.wait_for(lock, 20s, [&] { return body_.size() >= bytes; }));
  }
  std::string body() { return with_lock(body_); }
  net::http_head head() { return with_lock(head_); }
  int heads() { return with_lock(heads_); }
  int ends() { return with_lock(ends_); }
  int pieces() { return with_lock(pieces_); }
  instant ended_at() { return with_lock(ended_at_); }

 private:
  template <class T>
  T with_lock(const T& held) {
    const std::lock_guard lock(guard_);
    return held;
  }

  std::mutex guard_;
  std::condition_variable changed_;
  net::http_head head_;
  std::string body_;
  std::optional<result<void>> outcome_;
  instant ended_at_;
  int heads_ = 0;
  int pieces_ = 0;
  int ends_ = 0;
};

net::http_request post(std::string body, net::deadlines bounds = {}) {
  net::http_request request;
  request.target = "/v1/chat/completions";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = std::move(body);
  request.deadlines = bounds;
  return request;
}

/// A loop with one client, driven from the test's thread.
class harness {
 public:
  explicit harness(const std::string& url, net::http_limits bounds = {}) {
    loop_.run_and_wait(
        [&] { client_ = std::make_unique<net::http_client>(loop_, *net::parse_url(url), bounds); });
  }
  ~harness() { destroy_client(); }

  std::shared_ptr<collector> start(net::http_request request = post("{}")) {
    auto sink = std::make_shared<collector>();
    loop_.run_and_wait([&] { last_ = client_->start(std::move(request), sink); });
    return sink;
  }
  std::shared_ptr<collector> finish(net::http_request request = post("{}")) {
    auto sink = start(std::move(request));
    static_cast<void>(sink->wait());
    return sink;
  }
  void cancel_last() {
    loop_.run_and_wait([&] { client_->cancel(last_); });
  }
  void destroy_client() {
    loop_.run_and_wait([&] { client_.reset(); });
  }
  net::loop& loop() { return loop_; }

 private:
  net::loop loop_;
  std::unique_ptr<net::http_client> client_;
  net::http_client::exchange_id last_ = 0;
};

const std::string ok_hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

net::deadlines only(duration net::deadlines::* which, duration span) {
  net::deadlines bounds{10s, 10s, 10s, 10s};
  bounds.*which = span;
  return bounds;
}

net::http_request get(std::string target) {
  net::http_request request;
  request.method = "GET";
  request.target = std::move(target);
  return request;
}

/// Waits for what another thread is about to make true.
template <class Condition>
bool soon(Condition holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

}  // namespace

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
            "\r\nContent-Type: application/json\r\nContent-Length: 7\r\n"
            "Connection: keep-alive\r\n\r\n{\"n\":1}");
}

TEST_CASE("a get has no body and says so by having no length") {
  fault_server server({{test::send(ok_hello)}});
  harness client(server.url());
  CHECK(client.finish(get("/health?x=1"))->wait());
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0] == "GET /health?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" +
                                    std::to_string(server.port()) + "\r\nConnection: keep-alive\r\n\r\n");
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
  CHECK(refused.error().message == "cannot connect to " + peer + " : connection refused");

  // RFC 2606 reserves .invalid: it never resolves.
  harness nowhere("http://model.invalid:80");
  const auto unknown = nowhere.finish()->wait();
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == errc::transport);
  CHECK(unknown.error().at == stage::connect);
  CHECK(unknown.error().message.starts_with("cannot find the host model.invalid: "));
}

TEST_CASE("https says that it is not there yet") {
  harness client("https://127.0.0.1:1");
  const auto outcome = client.finish()->wait();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::unsupported);
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
    for (int i = 0; i < 64; ++i) sinks.push_back(client.start(post("{\"n\":" + std::to_string(i) + "}")));
    for (const auto& sink : sinks) {
      CHECK(sink->wait());
      CHECK(sink->body() == "hello");
    }
  }
  CHECK(server.requests().size() == 128);
  CHECK(server.connections() == 64);
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
