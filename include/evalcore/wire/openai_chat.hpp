#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <evalcore/base/limits.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/encoded.hpp>

namespace evalcore::wire {

/// The body of POST /v1/chat/completions. The same request gives the same bytes every time.
/// `stream` asks for server-sent events with usage at the end. Hints that the dialect does not know are
/// left out without a word: they change no answer. Errors: unsupported for what the server cannot honour and
/// the answer depends on (n, tools, a tool choice, images); invalid_argument for a request that contradicts
/// itself, such as a required call without a tool.
[[nodiscard]] result<encoded> encode_openai_chat(const chat::request& request, const dialect& ways,
                                                 bool stream);

/// Everything in a request that can change its answer, as text: two requests of one text are the same
/// question. Hints are no part of it. Never fails, whatever a server could do with it.
[[nodiscard]] std::string identity_text(const chat::request& request);

/// A whole (not streamed) answer: choice 0 of however many there are. Errors: bad_reply for what is no chat
/// completion; the classes of classify_openai_error for an error object that came with status 200.
[[nodiscard]] result<chat::reply> decode_openai_chat(std::string_view body, const dialect& ways);

/// An answer with a status other than 200: the class (by the status, refined by what the body says), a
/// sentence, and the backend's own words. Retry-After is left to the caller, who has the headers.
[[nodiscard]] error classify_openai_error(int status, std::string_view body, const dialect& ways);

/// Assembles a streamed answer: choice 0 of however many there are. Bytes go in as they come; take() gives
/// the reply once the stream ended. One thread at a time; movable.
class openai_chat_stream {
 public:
  /// `line_limit`: bytes of one line of the stream, and of one event.
  explicit openai_chat_stream(const dialect& ways, std::uint64_t line_limit = limits::sse_line_bytes);
  ~openai_chat_stream();
  openai_chat_stream(openai_chat_stream&&) noexcept;
  openai_chat_stream& operator=(openai_chat_stream&&) noexcept;

  /// Where the dialect leaves reasoning in the content, a piece's text has it too: where it ends is known
  /// only in the end, and only the reply is split.
  using progress = stream_progress;
  /// Errors: bad_reply for what is not the protocol; an error event's own class. Spent after an error:
  /// feed() and take() then give the same error again.
  [[nodiscard]] result<progress> feed(std::string_view piece);

  /// Comment lines so far: a server that sends them lives, though it has no token yet.
  [[nodiscard]] std::uint64_t comments() const noexcept;

  /// At end of body, once. Errors: truncated unless the stream proved its end (a finish reason or, where
  /// the dialect says so, [DONE]); bad_reply when it ended well without any answer in it.
  [[nodiscard]] result<chat::reply> take();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace evalcore::wire
