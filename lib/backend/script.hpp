#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::backend {

/// One line of a script: what happens to a request that takes it.
struct script_line {
  std::optional<std::string> match;
  std::chrono::milliseconds delay{0};
  std::optional<std::chrono::milliseconds> first_token;
  chat::reply reply;
  std::optional<error> fault;  ///< In place of the reply.
};

/// The lines of a scripted backend and which of them were used. No clock, no I/O.
class script {
 public:
  /// `name` is the file's, for messages. Errors: invalid_argument.
  [[nodiscard]] static result<script> parse(std::string_view text, const std::string& name);

  /// The line that this request takes; null when none can serve it.
  [[nodiscard]] const script_line* take(const chat::request& request);

 private:
  struct entry {
    script_line line;
    bool used = false;
  };
  std::vector<entry> matching_;      ///< Lines with `match`.
  std::vector<script_line> others_;  ///< Without; the last one stays.
  std::size_t others_used_ = 0;      ///< Requests that these served.
};

}  // namespace evalcore::backend
