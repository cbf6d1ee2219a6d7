#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/completion.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/encoded.hpp>

namespace evalcore::wire {

/// The body of POST /v1/completions. The same request gives the same bytes every time. `stream` asks for
/// server-sent events with usage at the end. Hints that the dialect does not know are left out without a
/// word. Errors: invalid_argument for no prompt, an empty one unless the dialect takes it (some servers die
/// of it), text and ids mixed, or a temperature or top_p that is not finite; unsupported for several prompts
/// or ids where the dialect does not take them, for echo with logprobs where it is known not to return those
/// of the prompt, for n above 1 and for a response format.
[[nodiscard]] result<encoded> encode_openai_completion(const chat::completion_request& request,
                                                       const dialect& ways, bool stream);

/// A whole (not streamed) answer to `prompts` prompts. Logprobs are read in both shapes, that of completions
/// and that of chat; bare -Infinity in the place of a number is tolerated. An answer with another status is
/// for classify_openai_error. Errors: bad_reply for what is no text completion, for a prompt without an
/// answer or with two, for a NaN; the classes of classify_openai_error for an error object with status 200.
[[nodiscard]] result<chat::completion_reply> decode_openai_completion(std::string_view body,
                                                                      const dialect& ways,
                                                                      std::size_t prompts = 1);

/// Assembles a streamed answer. Bytes go in as they come; take() gives the reply once the stream ended.
/// `ways` must outlive it. One thread at a time; movable.
class openai_completion_stream {
 public:
  explicit openai_completion_stream(const dialect& ways, std::size_t prompts = 1);
  ~openai_completion_stream();
  openai_completion_stream(openai_completion_stream&&) noexcept;
  openai_completion_stream& operator=(openai_completion_stream&&) noexcept;

  /// The text is what the piece added to the answer to the first prompt.
  using progress = stream_progress;
  /// Errors: bad_reply for what is not the protocol; an error event's own class. Spent after an error:
  /// feed() and take() then give the same error again.
  [[nodiscard]] result<progress> feed(std::string_view piece);

  /// Comment lines so far: a server that sends them lives, though it has no token yet.
  [[nodiscard]] std::uint64_t comments() const noexcept;

  /// At end of body, once. Errors: truncated unless the end of each answer is proved (a finish reason or,
  /// where the dialect says so, [DONE]); bad_reply when it ended well but lacks the answer to a prompt.
  [[nodiscard]] result<chat::completion_reply> take();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace evalcore::wire
