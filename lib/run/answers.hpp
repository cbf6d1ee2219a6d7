#pragma once

#include <cstddef>
#include <memory>
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

/// A reply that the store gets.
struct new_answer {
  std::size_t position = 0;
  item one;  ///< At least what score::task refers to, and the category.
  std::shared_ptr<const score::scorer> scorer;
  item_record record;
  attempt_record attempt;
  chat::reply reply;
  score::verdict verdict = {};  ///< As put_answer() has it; a host's is not known yet.
};

/// Scores it and writes both to the store. Errors: storage.
[[nodiscard]] result<void> put_answer(run_state& of, new_answer& what);
/// Counts it, or has the host asked for its score, once it is committed. Errors: bad_suite.
[[nodiscard]] result<void> count_answer(run_state& of, const new_answer& what);

}  // namespace evalcore::run
