#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evalcore/base/error.hpp>

namespace evalcore::engine {

/// Why the scheduler did not give an answer.
enum class refusal : std::uint8_t {
  queue_full,           ///< The waiting queue is full.
  queue_timeout,        ///< Waited too long for admission.
  cancelled,            ///< By the caller, or the scheduler was closed before the end.
  invalid_request,      ///< A value out of its range, or a prompt without a token.
  invalid_controls,     ///< A sampling control that is reserved, unknown or cannot be honoured.
  no_drafter,           ///< Speculation was asked for, and the engine has nothing to draft with.
  missing_lease,        ///< The owner is unknown or leaving.
  owner_busy,           ///< The owner still has requests.
  runtime_closed,       ///< The scheduler is closed or closing.
  stream_backpressure,  ///< The caller reads too slowly: its bounded output is full.
  backend_error,        ///< The engine failed.
};

/// "queue_full", …: what error::detail says.
[[nodiscard]] std::string_view name(refusal why) noexcept;
/// The HTTP status that goes with it.
[[nodiscard]] int http_status(refusal why) noexcept;
/// Whether it concerns one request only: everything but backend_error. Such an error says nothing about the
/// engine's health.
[[nodiscard]] constexpr bool request_local(refusal why) noexcept { return why != refusal::backend_error; }

/// The error that a caller sees. The request's own refusals and a slow reader are not retried; a full queue
/// is `overloaded`, an expired wait `timeout`, and a failed engine `backend_fault`.
[[nodiscard]] error refused(refusal why, std::string message);

}  // namespace evalcore::engine
