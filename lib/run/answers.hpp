#pragma once

#include <cstddef>
#include <optional>

#include <evalcore/base/result.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

#include "run/prepared_item.hpp"
#include "run/run_state.hpp"

namespace evalcore::run {

/// Of a reply in the store: a host's verdict as it is kept, absent where the host is to be asked; any other
/// is made again, since that is cheap and a scorer that was mended counts at once.
[[nodiscard]] std::optional<score::verdict> verdict_on(const prepared_item& what, const stored_reply& stored);

/// Counts a reply that the store has, with its score, or has the host asked for that. Errors: storage;
/// bad_suite.
[[nodiscard]] result<void> reuse_answer(run_state& of, std::size_t position, const prepared_item& what,
                                        const stored_reply& stored);

/// The same for a reply that the store gets. Errors: storage; bad_suite.
[[nodiscard]] result<void> keep_answer(run_state& of, std::size_t position, const item& one,
                                       const score::scorer& scorer, const item_record& record,
                                       const attempt_record& attempt, const chat::reply& reply);

}  // namespace evalcore::run
