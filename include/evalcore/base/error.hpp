#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <evalcore/base/errc.hpp>

namespace evalcore {

/// One failure. `message` is a sentence for a person that names the thing and, where there is one, the
/// mend; it never holds a secret or a whole payload. The backend's own words stay apart in
/// `backend_words` (at most 1 KiB, may contain user input).
struct error {
  errc code = errc::internal;
  stage at = stage::none;
  std::string message;
  std::optional<int> http_status;
  std::optional<std::chrono::milliseconds> retry_after;
  /// Said by the server (`x-should-retry`) or known for other reasons than the code; absent: see retryable().
  std::optional<bool> should_retry;
  /// The server's process died while the request was out.
  bool server_died = false;
  std::string backend_words;
  /// A finer word than `code`, from a closed list of the part that failed ("queue_full"); empty: none.
  std::string detail;
};

}  // namespace evalcore
