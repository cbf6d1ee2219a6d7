#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <evalcore/base/byte_buffer.hpp>
#include <evalcore/base/limits.hpp>
#include <evalcore/base/result.hpp>

namespace evalcore::wire {

/// One server-sent event. The views are valid during the call that delivers it.
struct sse_event {
  std::string_view type;  ///< Empty: "message".
  std::string_view data;
};

/// The incremental parser of the WHATWG event-stream format: pieces may be cut anywhere, lines may end in
/// LF, CR or CRLF, a leading byte order mark is dropped, several data lines are joined by LF, comments are
/// counted but not delivered, `id` and `retry` are ignored. Time is linear in the bytes, whatever the pieces.
///
/// One step beyond the standard: a field named `error` becomes an event of type "error". Older llama.cpp
/// servers report a failure that way, and an unknown field, silently skipped, would pass for success.
class sse_parser {
 public:
  using handler = std::function<void(const sse_event&)>;

  explicit sse_parser(std::uint64_t line_limit = limits::sse_line_bytes) : line_limit_(line_limit) {}

  /// Delivers each event that `piece` completes. Errors: bad_reply when a line, or the data of one event,
  /// exceeds the limit; the parser is then spent.
  [[nodiscard]] result<void> feed(std::string_view piece, const handler& deliver);

  /// At end of stream: the event that was begun but not finished by a blank line, delivered so that it is
  /// not lost (the standard would drop it). Returns whether there was one.
  bool finish(const handler& deliver);

  /// Comment lines seen so far: they prove that the server lives.
  [[nodiscard]] std::uint64_t comments() const noexcept { return comments_; }

 private:
  void line(std::string_view text, const handler& deliver);
  void dispatch(const handler& deliver);

  std::uint64_t line_limit_;
  std::uint64_t comments_ = 0;
  byte_buffer pending_;  ///< An unfinished line.
  std::string type_;
  std::string data_;
  bool has_data_ = false;
  bool at_start_ = true;
  bool after_cr_ = false;
};

}  // namespace evalcore::wire
