#pragma once

#include <doctest/doctest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/backend/backend.hpp>
#include <evalcore/backend/http_backend.hpp>
#include <evalcore/net/loop.hpp>

namespace evalcore::test {

/// A sink that keeps what came and lets the test's thread wait for the end.
class watching_sink final : public backend::sink {
 public:
  void on_first_token(instant /*now*/) override {
    const std::lock_guard lock(guarded_);
    ++first_tokens;
    changed_.notify_all();
  }
  void on_text(std::string_view delta) override {
    const std::lock_guard lock(guarded_);
    text += delta;
  }
  void on_end(result<chat::reply> outcome) override {
    const std::lock_guard lock(guarded_);
    ++ends;
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }

  result<chat::reply> wait() {
    std::unique_lock lock(guarded_);
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(60), [this] { return outcome_.has_value(); }));
    return *outcome_;
  }
  void wait_for_first_token() {
    std::unique_lock lock(guarded_);
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(60), [this] { return first_tokens > 0; }));
  }

  int first_tokens = 0;
  int ends = 0;
  std::string text;

 private:
  std::mutex guarded_;
  std::condition_variable changed_;
  std::optional<result<chat::reply>> outcome_;
};

struct started {
  std::shared_ptr<watching_sink> sink = std::make_shared<watching_sink>();
  backend::ticket ticket = 0;
};

inline started start(net::loop& loop, backend::backend& to, const chat::request& request) {
  started made;
  loop.run_and_wait([&] {
    made.ticket = to.start(request, made.sink);
    CHECK(made.sink->ends == 0);
  });
  return made;
}

/// Calls a function of a backend that answers through a callback, and waits for the answer.
template <class T, class Call>
result<T> ask(net::loop& loop, const Call& call) {
  struct answer {
    std::mutex guarded;
    std::condition_variable changed;
    std::optional<result<T>> value;
  };
  const auto held = std::make_shared<answer>();
  loop.run_and_wait([&] {
    call([held](result<T> value) {
      const std::lock_guard lock(held->guarded);
      held->value = std::move(value);
      held->changed.notify_all();
    });
  });
  std::unique_lock lock(held->guarded);
  REQUIRE(held->changed.wait_for(lock, std::chrono::seconds(60), [&] { return held->value.has_value(); }));
  return *held->value;
}

inline chat::message turn(chat::role who, std::string text) {
  chat::message made;
  made.who = who;
  made.text = std::move(text);
  return made;
}

inline chat::request user_says(std::string text) {
  chat::request request;
  request.messages.push_back(turn(chat::role::user, std::move(text)));
  request.params.temperature = 0;
  request.params.max_tokens = 32;
  return request;
}

/// A server of OpenAI's API after a dialect, its model named. It must be there.
inline std::unique_ptr<backend::backend> reach(net::loop& loop, const std::string& url, const char* dialect,
                                               backend::openai_api api = backend::openai_api::chat) {
  backend::http_options how;
  how.base_url = url;
  how.ways = wire::find_dialect(dialect);
  how.model = "m";
  how.api = api;
  auto made = backend::connect_openai_url(loop, how);
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().message));
  return *std::move(made);
}

}  // namespace evalcore::test
