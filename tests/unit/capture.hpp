#pragma once

#include <string>
#include <string_view>
#include <vector>

/// One recorded exchange with a real server: tests/data/captures/NAME.txt.
struct capture {
  std::string name;
  std::string request_body;
  int status = 0;
  bool streamed = false;  ///< Content-Type text/event-stream.
  std::string body;       ///< Of the answer; chunked coding is taken off.
};

/// Throws std::runtime_error for a file that is not one.
[[nodiscard]] capture read_capture(std::string_view name);
/// The names of those that hold an answer to POST /v1/chat/completions, sorted.
[[nodiscard]] std::vector<std::string> capture_names();
