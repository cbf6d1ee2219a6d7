#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/byte_buffer.hpp>
#include <evalcore/net/http_client.hpp>

#include "backend/chat_codec.hpp"
#include "backend/endpoint.hpp"

namespace evalcore::backend {

/// One chat request under way: turns the answer's bytes into what a sink is told, whether the server
/// streams as it was asked to or answers as a whole.
class chat_exchange final : public net::http_sink {
 public:
  /// `at` and `format` must outlive it. `spent` is called once, before the sink hears of the end: nothing
  /// more is read.
  chat_exchange(const endpoint& at, const chat_codec& format, bool stream, std::shared_ptr<sink> to,
                std::function<void()> spent);

  /// The fields of the request that the reply is to list, and what a whole answer repeats of it.
  void note_request(std::vector<std::string> dropped, std::string_view begun) {
    dropped_ = std::move(dropped);
    begun_ = begun;
  }

  /// Says nothing more; gives the sink back, which has not heard of an end (null: it has).
  [[nodiscard]] std::shared_ptr<sink> abandon();

  void on_head(const net::http_head& head) override;
  void on_body(std::string_view piece, instant now) override;
  void on_end(result<void> outcome) override;

 private:
  [[nodiscard]] error refusal() const;
  [[nodiscard]] error page_error() const;
  void end(result<chat::reply>&& outcome);

  const endpoint& at_;
  const chat_codec& format_;
  const bool stream_;         ///< As it was asked for.
  std::shared_ptr<sink> to_;  ///< Null once it heard of the end.
  std::function<void()> spent_;
  const instant began_;
  int status_ = 0;                     ///< 0: no head has come.
  net::http_head head_;                ///< Of a refusal.
  std::optional<chat_events> events_;  ///< Of an answer that is a stream.
  bool html_ = false;                  ///< By its type; some servers say so of every answer.
  char first_ = 0;                     ///< The first byte of the answer that is no blank; 0: none yet.
  byte_buffer body_;                   ///< Of an answer that is no stream.
  chat::timing timing_;
  std::vector<std::string> dropped_;
  std::string begun_;
};

}  // namespace evalcore::backend
