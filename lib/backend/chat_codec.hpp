#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_completions.hpp>
#include <evalcore/wire/openai_responses.hpp>

namespace evalcore::backend {

/// A streamed answer in any of the formats.
class chat_events {
 public:
  explicit chat_events(wire::openai_chat_stream stream) : stream_(std::move(stream)) {}
  explicit chat_events(wire::openai_response_stream stream) : stream_(std::move(stream)) {}
  explicit chat_events(wire::anthropic_messages_stream stream) : stream_(std::move(stream)) {}
  explicit chat_events(wire::openai_completion_stream stream) : stream_(std::move(stream)) {}

  [[nodiscard]] result<wire::stream_progress> feed(std::string_view piece);
  [[nodiscard]] result<chat::reply> take();

 private:
  std::variant<wire::openai_chat_stream, wire::openai_response_stream, wire::anthropic_messages_stream,
               wire::openai_completion_stream>
      stream_;
};

/// The wire format that a server is spoken to in.
class chat_codec {
 public:
  /// One of OpenAI's APIs, or with a version Anthropic's messages. `ways` must outlive it.
  chat_codec(const wire::dialect& ways, std::optional<wire::anthropic_version> messages,
             openai_api api = openai_api::chat)
      : ways_(&ways), messages_(messages), api_(api) {}

  [[nodiscard]] const char* path() const noexcept;
  [[nodiscard]] result<wire::encoded> encode(const chat::request& request, bool stream) const;
  /// What a whole answer to this request repeats of it, for decode(); empty: nothing.
  [[nodiscard]] std::string_view begun(const chat::request& request) const noexcept;
  /// A whole answer, with the same text as a stream would have brought.
  [[nodiscard]] result<chat::reply> decode(std::string_view body, std::string_view begun = {}) const;
  [[nodiscard]] error classify(int status, std::string_view body) const;
  [[nodiscard]] chat_events events() const;

 private:
  const wire::dialect* ways_;
  std::optional<wire::anthropic_version> messages_;
  openai_api api_;  ///< Without `messages_`.
};

}  // namespace evalcore::backend
