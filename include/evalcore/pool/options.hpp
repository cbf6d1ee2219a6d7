#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <evalcore/base/clock.hpp>

namespace evalcore::pool {

/// How failed requests are sent again. Which failures are is said by evalcore::retryable() and, above it, by
/// the server's own `x-should-retry`.
///
/// The delay before the n-th retry is min(first_delay · 2ⁿ⁻¹, longest_delay) · U(0.75, 1), as in OpenAI's and
/// Anthropic's clients. What a server asks for with Retry-After holds for all requests to that endpoint, and
/// is never cut short.
struct retry_options {
  std::uint32_t retries = 7;  ///< Of one item, after its first attempt.
  duration first_delay = std::chrono::milliseconds(500);
  duration longest_delay = std::chrono::seconds(8);
  /// The longest wait that a server may ask for. Beyond it the item ends at once, with that reason.
  duration max_wait = std::chrono::seconds(120);

  // Retries that fail again are bounded over the whole pool, so that a sick server is not beaten: by a part
  // of the requests sent and a trickle, of the last ten seconds. A retry that has no budget waits for it.
  double budget_share = 0.2;
  double budget_per_s = 2;
};

/// When an endpoint is left alone: after so many endpoint failures in a row. Then one request probes it,
/// after `first_probe`, doubling up to `longest_probe`, until one is answered, or begins to be in a stream.
struct breaker_options {
  std::uint32_t failures = 10;
  duration first_probe = std::chrono::seconds(5);
  duration longest_probe = std::chrono::seconds(60);
  /// An endpoint that has not answered for so long is given up; zero: never.
  duration max_outage = std::chrono::minutes(10);
};

/// Bounds on what goes out to one endpoint in a minute. What a server reports of its own limits is obeyed
/// besides.
struct rate_options {
  std::optional<std::uint64_t> requests_per_minute;
  std::optional<std::uint64_t> tokens_per_minute;  ///< Prompt and answer together.
};

/// Requests in flight of an open loop, where its user names no bound.
inline constexpr std::uint32_t open_loop_in_flight = 1'024;

struct options {
  std::uint32_t max_in_flight = 16;  ///< Requests in flight at most, at each endpoint; at least 1.
  /// Find the number that serves best instead (see adaptive_limit), up to highest_tried.
  bool adaptive = false;
  std::uint32_t highest_tried = 256;
  /// Where it begins. Half of what a server says that it computes side by side is a good place: whether the
  /// other half pays is seen next.
  std::uint32_t first_tried = 2;

  retry_options retry;
  breaker_options breaker;
  rate_options rate;

  /// Open loop: the k-th item goes out k / dispatch_rate seconds after the start, whatever became of those
  /// before it, as long as max_in_flight has room. 0: as fast as max_in_flight allows.
  double dispatch_rate = 0;
  duration total_deadline = {};             ///< For one item, from its first attempt; zero: none.
  duration time_limit = {};                 ///< After it nothing more is sent; zero: none.
  std::optional<std::uint64_t> max_errors;  ///< When more items than this have failed, nothing more is sent.
  std::uint64_t seed = 0;                   ///< Of the jitter.
};

/// A rate opens the loop where its user named no bound: answers do not hold it up.
constexpr void open_loop(options& how, bool bound_named) noexcept {
  if (how.dispatch_rate > 0 && !bound_named) how.max_in_flight = open_loop_in_flight;
}

}  // namespace evalcore::pool
