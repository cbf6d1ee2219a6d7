#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <evalcore/net/http_client.hpp>

#include "loopback/fault_server.hpp"

namespace evalcore::test {

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
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return outcome_.has_value(); }));
    return *outcome_;
  }
  void wait_for_body(std::size_t bytes) {
    std::unique_lock lock(guard_);
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return body_.size() >= bytes; }));
  }
  std::string body() { return with_lock(body_); }
  net::http_head head() { return with_lock(head_); }
  int heads() { return with_lock(heads_); }
  int ends() { return with_lock(ends_); }
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
  int ends_ = 0;
};

inline net::http_request post(std::string body, net::deadlines bounds = {}) {
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

inline const std::string ok_hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// One deadline is short; the others do not interfere.
inline net::deadlines only(duration net::deadlines::* which, duration span) {
  constexpr auto long_enough = std::chrono::seconds(10);
  net::deadlines bounds{long_enough, long_enough, long_enough, long_enough};
  bounds.*which = span;
  return bounds;
}

inline net::http_request get(std::string target) {
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
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace evalcore::test
