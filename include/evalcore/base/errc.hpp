#pragma once

#include <cstdint>
#include <string_view>

namespace evalcore {

/// What went wrong, as a closed list: a caller can switch over it and a run can count by it.
/// Values are part of the C ABI: never reused, never renumbered.
enum class errc : std::int32_t {
  invalid_argument = 1,  ///< The caller's mistake: an option, a name, a combination.
  unsupported = 2,       ///< The backend or the build cannot do this.
  not_found = 3,         ///< A file, program, model or item that does not exist.
  busy = 4,              ///< Taken by somebody else: a port, a store.
  closed = 5,            ///< The object was shut down.
  storage = 6,           ///< The store or an output file cannot be read or written.
  bad_suite = 7,         ///< A suite line that is not JSON or lacks a field.
  no_memory = 8,
  internal = 9,  ///< A bug in evalcore.

  rate_limited = 20,   ///< HTTP 429 and its kin. Worth a retry.
  overloaded = 21,     ///< HTTP 503, 529, "server busy". Worth a retry.
  transport = 22,      ///< Refused, reset, closed without an answer. Worth a retry.
  timeout = 23,        ///< A deadline passed. Worth a retry.
  truncated = 24,      ///< The answer ended without proof of its end. Worth a retry.
  bad_reply = 25,      ///< Bytes that are not the protocol, or JSON that is not an answer. Worth a retry.
  backend_fault = 26,  ///< HTTP 5xx, a process that died. Worth a retry.

  invalid_request = 40,   ///< HTTP 400, 404, 413, 422: the same request would fail again.
  context_overflow = 41,  ///< The prompt does not fit the model's context.
  auth = 42,              ///< HTTP 401, 403.
  quota = 43,             ///< Out of money or of a daily allowance.
  refused_content = 44,   ///< The backend's filter refused.
  cancelled = 45,         ///< The host asked for it.
};

/// The enumerator's own name ("rate_limited"), in static storage; "unknown" for a foreign value.
[[nodiscard]] std::string_view name(errc code) noexcept;

/// True for the classes that may succeed when the same request is sent again.
[[nodiscard]] constexpr bool retryable(errc code) noexcept {
  const auto value = static_cast<std::int32_t>(code);
  return value >= 20 && value <= 26;
}

/// Where it went wrong.
enum class stage : std::uint8_t {
  none,
  config,      ///< Reading options.
  suite,       ///< Reading the suite.
  start,       ///< Starting or reaching the backend.
  connect,     ///< Resolving and connecting.
  send,        ///< Writing the request.
  first_byte,  ///< Waiting for the first byte of the answer.
  body,        ///< Reading the answer.
  decode,      ///< Understanding the answer.
  store,
  score,
};

[[nodiscard]] std::string_view name(stage at) noexcept;

}  // namespace evalcore
