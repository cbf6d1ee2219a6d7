#pragma once

#include <evalcore/base/error.hpp>

namespace evalcore::cli {

/// What the shell sees. Kept for ever: scripts test these numbers.
namespace exit_status {
inline constexpr int done = 0;
inline constexpr int gate_failed = 1;
inline constexpr int usage = 2;
inline constexpr int backend_unavailable = 3;
inline constexpr int items_errored = 4;
inline constexpr int gate_inconclusive = 5;
inline constexpr int system_refused = 71;  // EX_OSERR: no memory, no thread.
inline constexpr int interrupted = 130;
}  // namespace exit_status

/// For a command that could not do its work at all.
[[nodiscard]] inline int exit_status_of(const error& failure) noexcept {
  if (failure.code == errc::cancelled) return exit_status::interrupted;
  switch (failure.at) {
    case stage::none:
    case stage::config:
    case stage::suite:
    case stage::store:
    case stage::score:
      return exit_status::usage;
    case stage::start:
    case stage::connect:
    case stage::send:
    case stage::first_byte:
    case stage::body:
    case stage::decode:
      break;
  }
  const bool callers_mistake = failure.code == errc::invalid_argument || failure.code == errc::bad_suite;
  return callers_mistake ? exit_status::usage : exit_status::backend_unavailable;
}

}  // namespace evalcore::cli
