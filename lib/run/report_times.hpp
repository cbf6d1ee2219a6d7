#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/base/json.hpp>

namespace evalcore::run {

/// One request that gave a reply.
struct request_times {
  std::int64_t sent_unix_ms = 0;
  duration total{};
  std::optional<duration> first_token;
  std::optional<std::uint64_t> prompt_tokens;
  std::optional<std::uint64_t> completion_tokens;
  std::optional<std::uint64_t> cached_tokens;
  std::optional<std::uint64_t> predicted_cached_tokens;
};

/// A limit history as the store has it, and when its run began.
struct stored_limits {
  std::int64_t started_unix_ms = 0;
  std::string_view limits;  ///< JSON of run::limits_json().
};

/// The value below which a share `q` (0 to 1) of `sorted` lies, between two neighbours in proportion, as
/// numpy's percentile has it by default. `sorted` is ascending and not empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

/// {replies, total_s, first_token_s}, of each {count, mean, p50, p90, p95, p99, max, curve[101]}, null where
/// none was measured.
[[nodiscard]] json::value latency_json(std::span<const request_times> of);

/// What happened when: {seconds, step_s, in_flight[], tokens_per_s[], predicted_share[], reported_share[],
/// limits[endpoint][{s, limit, why, tokens}]}; null without requests. Times are seconds since the first
/// request, pauses of more than a minute without any left out. Shares are of the prompt tokens of the
/// requests sent then, null where not known; tokens_per_s is null where no reply counted its tokens, each of
/// which came evenly between the first token, or the request, and the end.
[[nodiscard]] json::value over_time_json(std::vector<request_times> of,
                                         std::span<const stored_limits> limits);

}  // namespace evalcore::run
