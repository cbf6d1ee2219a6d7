#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/encoded.hpp>

namespace evalcore::wire {

/// The body of POST /v1/responses. The same request gives the same bytes every time. Leading system turns
/// become `instructions`, joined by an empty line; every tool is sent with `strict` false, as the chat API
/// has it (here the default is true, and changes the schema); reasoning is sent only as the items it came in,
/// told by their ids. `store` is false: nothing is kept at the server.
///
/// The API has no stop strings, seed, top_k, nor a switch or budget for thinking: they are left out and
/// listed. Errors: unsupported for what the server cannot honour and the answer depends on (n, tools, a tool
/// choice, images, images in an assistant turn); invalid_argument for a request that contradicts itself or is
/// incomplete (a required call without a tool, a call or a tool result without the call's id).
[[nodiscard]] result<encoded> encode_openai_responses(const chat::request& request, const dialect& ways,
                                                      bool stream);

/// A whole (not streamed) answer: the texts of all its messages as one. `finish_raw` keeps the status, or why
/// the answer is incomplete; items of an unknown kind are skipped. Of reasoning the full text counts, else
/// its summary, the parts of which are kept apart by an empty line. Errors: bad_reply for what is no finished
/// response; the classes of classify_openai_error() for an error object that came with status 200;
/// backend_fault for a response that failed.
[[nodiscard]] result<chat::reply> decode_openai_response(std::string_view body, const dialect& ways);

/// Assembles a streamed answer. Bytes go in as they come; take() gives the reply once the stream ended: what
/// the event of the end holds or, where that has no output, what the events before it added up to. One thread
/// at a time; movable.
class openai_response_stream {
 public:
  explicit openai_response_stream(const dialect& ways);
  ~openai_response_stream();
  openai_response_stream(openai_response_stream&&) noexcept;
  openai_response_stream& operator=(openai_response_stream&&) noexcept;

  using progress = stream_progress;
  /// Errors: bad_reply for what is not the protocol; the class of an error event, or of the failure that the
  /// response ended in. Spent after an error: feed() and take() then give the same error again.
  [[nodiscard]] result<progress> feed(std::string_view piece);

  /// Comment lines so far: a server that sends them lives, though it has no token yet.
  [[nodiscard]] std::uint64_t comments() const noexcept;

  /// At end of body, once. Errors: truncated unless response.completed or response.incomplete was there.
  [[nodiscard]] result<chat::reply> take();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace evalcore::wire
