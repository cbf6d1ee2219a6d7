#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/backend/http_backend.hpp>

namespace evalcore::test {

/// One chat request to a server of OpenAI's API, all of it from the caller's thread.
class chat_client {
 public:
  explicit chat_client(const std::string& url, bool streamed) {
    backend::http_options how;
    how.base_url = url;
    how.stream = streamed;
    backend_ = backend::connect_openai_url(loop_, how);
  }
  ~chat_client() {
    if (backend_) backend_->reset();
  }
  chat_client(const chat_client&) = delete;
  chat_client& operator=(const chat_client&) = delete;

  result<chat::reply> ask() {
    if (!backend_) return backend_.error();
    chat::request request;
    request.messages.emplace_back();
    request.messages.back().text = "hi";
    const auto sink = std::make_shared<meeting>();
    loop_.run_and_wait([&] { (*backend_)->start(request, sink); });
    return sink->wait();
  }

 private:
  class meeting final : public backend::sink {
   public:
    void on_end(result<chat::reply> outcome) override {
      const std::lock_guard lock(guard_);
      outcome_ = std::move(outcome);
      changed_.notify_all();
    }
    result<chat::reply> wait() {
      std::unique_lock lock(guard_);
      changed_.wait(lock, [&] { return outcome_.has_value(); });
      return *outcome_;
    }

   private:
    std::mutex guard_;
    std::condition_variable changed_;
    std::optional<result<chat::reply>> outcome_;
  };

  net::loop loop_;
  result<std::unique_ptr<backend::backend>> backend_ = std::unique_ptr<backend::backend>();
};

}  // namespace evalcore::test
