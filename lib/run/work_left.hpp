#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evalcore/base/result.hpp>

#include "run/run_state.hpp"

namespace evalcore::run {

/// A run's items that the store does not answer, by their positions in the suite.
struct work_left {
  std::vector<std::size_t> cached;     ///< The response cache answers them.
  std::vector<std::uint32_t> pending;  ///< To be sent.
  std::vector<std::uint32_t> seconds;  ///< To be sent a second time: of all items, also of those above.
  bool any_tools = false;              ///< Of all items, those that are answered included.
  bool seen_before = false;            ///< There was something that could have been reused.
};

/// Counts what the store answers, scored again, and lists the rest. `own`: a shard's positions; null: the
/// first items of the suite. Errors: bad_suite; storage; invalid_argument (ledger::payable()).
[[nodiscard]] result<work_left> look_into_store(run_state& of, const std::vector<std::size_t>* own);

/// Keeps the replies that stand in as those of this run's items, scored by these. After store::begin_run(),
/// and so they are looked up a second time: held until then, those of a large suite would fill the memory.
[[nodiscard]] result<void> take_cached(run_state& of, const std::vector<std::size_t>& positions);

}  // namespace evalcore::run
