#pragma once

#include <chrono>
#include <optional>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/error.hpp>
#include <evalcore/net/http_client.hpp>

namespace evalcore::backend {

/// How long a server asks its client to wait: retry-after-ms, or Retry-After in seconds or as a date.
/// `now` is the time of day. Absent when it does not ask or asks in no known form.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(const net::http_head& head,
                                                                   std::chrono::system_clock::time_point now);

/// Whether read_rate_report() may find something. Most servers have no limits, and every answer is looked at.
[[nodiscard]] bool tells_a_limit(const net::http_head& head);

/// What is left of the server's own limits: `x-ratelimit-…-requests` and `-tokens` as OpenAI and those after
/// it send them (resets as spans such as 6m0s), `anthropic-ratelimit-…` (resets as RFC 3339 times). Absent
/// where it says nothing of the kind.
[[nodiscard]] std::optional<rate_report> read_rate_report(const net::http_head& head,
                                                          std::chrono::system_clock::time_point now);

/// Adds to a refusal what its head says on when to come back and whether to (`x-should-retry`). A refusal for
/// too many requests without Retry-After names the reset of what is used up.
void take_advice(error& refusal, const net::http_head& head, std::chrono::system_clock::time_point now);

}  // namespace evalcore::backend
