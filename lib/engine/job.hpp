#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/clock.hpp>
#include <evalcore/engine/answer.hpp>
#include <evalcore/engine/prefix_cache.hpp>
#include <evalcore/engine/request.hpp>

#include "engine/outlet.hpp"
#include "engine/stop_strings.hpp"

namespace evalcore::engine {

using job_id = std::uint64_t;

/// A request from its admission until the engine has let go of its row. Its reader keeps the outlet beyond
/// that.
struct job {
  job(job_id number, request&& asked, std::size_t output_records, instant now)
      : id(number),
        what(std::make_shared<const request>(std::move(asked))),
        out(std::make_shared<outlet>(output_records)),
        submitted(now),
        stops(what->stop) {}

  job_id id;
  std::shared_ptr<const request> what;
  std::shared_ptr<outlet> out;
  instant submitted;
  bool alone = false;  ///< Not batchable.

  // From the moment that it was taken from the queue:
  instant started;
  std::vector<token> prompt;  ///< Empty: not prepared yet.

  // Of a request with a cache key, where the engine has snapshots:
  std::string salt;                 ///< Empty: it has none.
  std::vector<std::uint32_t> cuts;  ///< Where its prompt is to be kept, rising; those passed are gone.
  snapshot_tally kept_here;
  bool may_wait = true;  ///< For another row that computes a prefix of this prompt.
  bool waits = false;

  // Of its row:
  std::optional<row_id> row;
  std::uint32_t max_tokens = 1;
  instant opened;
  std::uint32_t restored = 0;
  std::uint32_t processed = 0;  ///< Tokens of the prompt that the row holds.
  bool asked_to_leave = false;  ///< Since the last step.
  bool lost = false;            ///< The engine failed: nothing is to be waited for.
  std::optional<instant> first_token;
  instant last_token;
  stop_strings stops;
  answer whole;

  /// Its reader has the end; the row is to go.
  [[nodiscard]] bool over() const noexcept { return out->ended(); }
};

}  // namespace evalcore::engine
