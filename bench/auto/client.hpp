#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <evalcore/pool/adaptive_limit.hpp>

#include "server.hpp"

namespace evalcore::bench {

/// A fixed number in flight, or `auto`.
using limit_policy = std::variant<std::uint32_t, pool::limit_bounds>;

struct client_plan {
  std::uint64_t requests = 0;  ///< Ends when so many are answered …
  double horizon = 0;          ///< … or at this time, in seconds.
};

struct client_outcome {
  std::vector<double> tokens;  ///< Of answered requests, by the second of their end.
  std::uint64_t sent = 0;
  std::uint64_t rejected = 0;  ///< By a 429 or 500, or refused while the server was down.
  std::uint64_t lost = 0;      ///< In flight when the server crashed.
  double makespan = 0;         ///< Seconds; the horizon if not everything was answered by then.
  std::vector<pool::limit_change> history;

  /// Tokens a second from the second `from` until `to`.
  [[nodiscard]] double throughput(std::size_t from, std::size_t to) const;
};

/// A pool in front of the server: obeys Retry-After for all requests, retries what was rejected or failed
/// after min(0.5 * 2^n, 8) s * U(0.75, 1), stops at ten failures in a row and asks with one request after 5
/// s.
[[nodiscard]] client_outcome run_client(const server_facts& facts, const limit_policy& policy,
                                        const client_plan& plan, std::span<const request_size> sizes,
                                        std::uint64_t seed);

}  // namespace evalcore::bench
