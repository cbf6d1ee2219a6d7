#pragma once

#include <memory>
#include <string>
#include <utility>

#include <evalcore/base/result.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

/// Which scorer an item has: one that takes the place of all, or its own. The last one is remembered, as
/// items that follow each other mostly have the same, and to make one may mean to compile a pattern or a
/// schema. One thread at a time.
class item_scorers {
 public:
  using scorer = std::shared_ptr<const score::scorer>;

  /// Null: each item's own.
  explicit item_scorers(scorer in_place_of_all = nullptr) : for_all_(std::move(in_place_of_all)) {}

  /// Null where items have their own.
  [[nodiscard]] const scorer& for_all() const noexcept { return for_all_; }
  /// Errors: as score::find_scorer().
  [[nodiscard]] result<scorer> of(const item& one) {
    if (for_all_) return for_all_;
    if (!last_ || named_ != one.scorer) {
      auto found = score::find_scorer(one.scorer);
      if (!found) return found;
      last_ = *std::move(found);
      named_ = one.scorer;
    }
    return last_;
  }

 private:
  scorer for_all_;
  scorer last_;
  std::string named_;
};

}  // namespace evalcore::run
