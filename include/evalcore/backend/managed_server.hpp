#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/wire/dialect.hpp>

namespace evalcore::backend {

/// What a dialect's start line does not use is without effect.
struct managed_options {
  const wire::dialect* ways = nullptr;    ///< One with a start line.
  std::string program;                    ///< A name on PATH, or a path; empty: the dialect's own.
  std::string model;                      ///< As the dialect's start line wants it.
  std::uint16_t port = 0;                 ///< 0: a free one.
  std::uint32_t slots = 4;                ///< Requests that it computes side by side.
  std::uint64_t context_per_slot = 4096;  ///< Tokens, prompt and answer together.
  std::uint32_t threads = 1;              ///< Compute threads.
  bool share_prefix = true;               ///< Let slots be saved and restored, in a private folder.
  std::chrono::seconds ready_deadline{120};
  /// Passed on as they are; those that evalcore sets itself are refused.
  std::vector<std::string> extra_args;
  net::deadlines deadlines;  ///< Of each chat request.
};

/// Starts a model server as a child and returns when it is ready. The child and its children end with the
/// backend, and so does the private folder that they were given. When the child dies in between, the requests
/// that fail by it end in backend_fault with how it died and its last words.
///
/// Errors: not_found (program, model), busy (port), invalid_argument, backend_fault (died while loading),
/// timeout (not ready in time), cancelled (`stop`, within 100 ms).
/// Threads: call from any but the loop, it blocks; destroy on any but the loop, before it.
[[nodiscard]] result<std::unique_ptr<backend>> start_managed_server(net::loop& owner,
                                                                    const managed_options& how,
                                                                    std::stop_token stop = {});

}  // namespace evalcore::backend
