#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/error.hpp>

namespace evalcore::backend {

/// What becomes of a question that is asked before a run and has failed `failures` times since it was first
/// asked, `since` ago: how long to wait before it is asked again; nothing: it is not, and ends with `why`,
/// which may have got words on that. Called on the thread that asks. Empty: nothing is asked again.
using ask_again = std::function<std::optional<duration>(error& why, std::uint32_t failures, duration since)>;

/// Waits so long; an error (cancelled) when `stop` was requested before it was over.
[[nodiscard]] std::optional<error> rest(duration span, const std::stop_token& stop);

/// Calls `ask`, which returns a result<T>, until it succeeds or `again` has enough.
template <class Ask>
auto ask_patiently(const ask_again& again, const std::stop_token& stop, Ask ask) -> decltype(ask()) {
  const auto began = std::chrono::steady_clock::now();
  for (std::uint32_t failures = 1;; ++failures) {
    auto answer = ask();
    if (answer || !again) return answer;
    auto why = std::move(answer).error();
    const auto wait = again(why, failures, std::chrono::steady_clock::now() - began);
    if (!wait) return why;
    if (auto interrupted = rest(*wait, stop)) return *std::move(interrupted);
  }
}

}  // namespace evalcore::backend
