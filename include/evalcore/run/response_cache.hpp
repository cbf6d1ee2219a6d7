#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/run/store.hpp>

namespace evalcore::run {

/// Replies of earlier runs that stand in for the backend's answer to the same request (same cache_key()), so
/// that a suite of which a line was changed is not sent anew as a whole.
struct response_cache {
  std::vector<const store*>
      stores;            ///< Asked in this order; the run's own may be one of them. Empty: no cache.
  bool sampled = false;  ///< Also for requests that may be answered otherwise each time.
};

/// Whether this reply may be given again to the same request. A refusal may not, since the backend's filter
/// may let the next attempt pass; nor may a sampled answer, unless `sampled` says so. An answer is not
/// sampled when the request's temperature is 0 or it has a seed, and the backend took that field.
[[nodiscard]] bool may_stand_in(const chat::request& asked, const chat::reply& given, bool sampled);

/// The first reply that may stand in. Errors: as store::find().
[[nodiscard]] result<std::optional<earlier_reply>> find_earlier(const response_cache& in,
                                                                const std::string& cache_key,
                                                                const chat::request& asked);

/// What a run takes from its stores and what it sends, in one line for a person.
[[nodiscard]] std::string reuse_line(std::uint64_t items, std::uint64_t stored, std::uint64_t stood_in,
                                     std::uint64_t sent);

}  // namespace evalcore::run
