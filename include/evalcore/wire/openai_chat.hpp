#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/sse.hpp>

namespace evalcore::wire {

/// The body of POST /v1/chat/completions. The same request gives the same bytes every time.
/// `stream` asks for server-sent events with usage at the end. Hints that the dialect does not know are
/// left out.
[[nodiscard]] std::string encode_openai_chat(const chat::request& request, const dialect& ways, bool stream);

/// A whole (not streamed) answer. Errors: bad_reply for what is no chat completion; the classes of
/// classify_openai_error for an error object that came with status 200.
[[nodiscard]] result<chat::reply> decode_openai_chat(std::string_view body, const dialect& ways);

/// An answer with a status other than 200: the class, the backend's words, Retry-After left to the caller.
[[nodiscard]] error classify_openai_error(int status, std::string_view body, const dialect& ways);

/// Assembles a streamed answer. Bytes go in as they come; take() gives the reply once the stream ended.
class openai_chat_stream {
 public:
  explicit openai_chat_stream(const dialect& ways);

  /// What a piece brought.
  struct progress {
    bool content = false;     ///< At least one delta with text, reasoning or a call: the first token is here.
    std::string text;         ///< The text that this piece added.
  };
  /// Errors: bad_reply for what is not the protocol; an error event's own class. Spent after an error.
  [[nodiscard]] result<progress> feed(std::string_view piece);

  /// At end of body. Errors: truncated unless the stream proved its end (a finish reason or [DONE], as
  /// the dialect says).
  [[nodiscard]] result<chat::reply> take();

 private:
  result<void> event(const sse_event& one, progress& made);

  const dialect* ways_;
  sse_parser parser_;
  chat::reply reply_;
  std::optional<error> failure_;
  bool done_ = false;
  bool finished_ = false;
};

}  // namespace evalcore::wire
