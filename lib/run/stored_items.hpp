#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <evalcore/base/result.hpp>
#include <evalcore/run/cost.hpp>
#include <evalcore/run/scored_runs.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

#include "run/item_scorers.hpp"
#include "run/merge_parts.hpp"
#include "run/prepared_item.hpp"

namespace evalcore::run {

/// An item of a run with what became of it.
struct stored_item {
  prepared_item what;
  std::optional<stored_reply> stored;
  score::verdict verdict;  ///< Of the reply, as `evalcore run` would give it now; unscored without one.
  item_score score;
};

/// One run of a store, item by item.
class stored_items {
 public:
  /// `what` must outlive it. Errors: as store::open_to_read() and score::find_scorer().
  [[nodiscard]] static result<stored_items> open(const part& from, const suite& what);

  /// By its position in the suite. Errors: as suite::get() and store::find().
  [[nodiscard]] result<stored_item> get(std::size_t index);
  [[nodiscard]] result<item_history> history_of(const item_record& one) { return store_.history_of(one); }
  /// What all attempts at this suite with this backend cost. Errors: storage.
  [[nodiscard]] result<cost> spent() const { return store_.spent(suite_->hash(), identity_); }

 private:
  using failures = std::map<std::pair<std::string, std::string>, std::string>;
  stored_items(const suite& what, request_options how, item_scorers scorers, store opened)
      : suite_(&what), how_(std::move(how)), scorers_(std::move(scorers)), store_(std::move(opened)) {}

  const suite* suite_;
  request_options how_;
  item_scorers scorers_;
  store store_;
  std::map<std::string, std::string> identity_;
  failures failures_;
};

}  // namespace evalcore::run
