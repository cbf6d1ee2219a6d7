#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/encoded.hpp>

namespace evalcore::wire {

/// The version that the header `anthropic-version` names; each has its own fields.
enum class anthropic_version : std::uint8_t {
  v2023_06_01,
  v2026_10_21,  ///< Knows no temperature, top_p or top_k, and no assistant turn at the end.
};

/// The header's value: "2023-06-01".
[[nodiscard]] std::string_view name(anthropic_version version) noexcept;
/// Nullopt for a version that is not known here.
[[nodiscard]] std::optional<anthropic_version> anthropic_version_from(std::string_view text) noexcept;

/// What is sent where the request bounds its answer nowhere: the field is required.
inline constexpr std::uint32_t anthropic_default_max_tokens = 4096;

/// The body of POST /v1/messages. The same request gives the same bytes every time. Leading system turns
/// become `system`, joined by an empty line; turns of one side that follow each other become one turn, tool
/// results first, unless the dialect wants them apart; reasoning is sent only as the thinking blocks it came
/// in. At most four cache breakpoints are sent: those after the tools and the system turns, and the last ones
/// after messages.
///
/// Errors: unsupported for what the format has no place for and the answer depends on (n, system turns
/// further on, a temperature above 1, a stop string of white space, images outside of user and tool turns,
/// …); invalid_argument for a request that contradicts itself or is incomplete (a call whose arguments are no
/// JSON object, a tool result without its call's id, a thinking budget below 1,024 or not below max_tokens,
/// …).
[[nodiscard]] result<encoded> encode_anthropic_messages(const chat::request& request, const dialect& ways,
                                                        anthropic_version version, bool stream);

/// A whole (not streamed) answer. `finish_raw` keeps the stop reason; blocks of an unknown kind are skipped.
/// Errors: bad_reply for what is no message; the classes of classify_anthropic_error for an error object that
/// came with status 200.
[[nodiscard]] result<chat::reply> decode_anthropic_message(std::string_view body, const dialect& ways);

/// An answer with a status other than 200, in Anthropic's shape or that of a local server that answers on the
/// same route. Retry-After is left to the caller, who has the headers.
[[nodiscard]] error classify_anthropic_error(int status, std::string_view body, const dialect& ways);

/// Assembles a streamed answer. Bytes go in as they come; take() gives the reply once the stream ended. One
/// thread at a time; movable.
class anthropic_messages_stream {
 public:
  explicit anthropic_messages_stream(const dialect& ways);
  ~anthropic_messages_stream();
  anthropic_messages_stream(anthropic_messages_stream&&) noexcept;
  anthropic_messages_stream& operator=(anthropic_messages_stream&&) noexcept;

  using progress = stream_progress;
  /// Errors: bad_reply for what is not the protocol; an error event's own class. Spent after an error:
  /// feed() and take() then give the same error again.
  [[nodiscard]] result<progress> feed(std::string_view piece);

  /// Comment lines and ping events so far: a server that sends them lives, though it has no token yet.
  [[nodiscard]] std::uint64_t comments() const noexcept;

  /// At end of body, once. Errors: truncated unless message_stop was there; bad_reply when the stream ended
  /// well without a message in it.
  [[nodiscard]] result<chat::reply> take();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace evalcore::wire
