#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <evalcore/prefix/dispatch.hpp>

#include "prefix/number_set.hpp"

namespace evalcore::prefix {

/// Which items have not gone out yet, for when the planning has ended.
class unsent {
 public:
  explicit unsent(std::size_t items) : left_(items) {
    for (std::uint32_t item = 0; item < items; ++item) left_.insert(item);
  }

  void sent(std::uint32_t item) { left_.erase(item); }
  /// The next of them as it was dealt: unpinned, and nothing is predicted.
  action next() {
    const auto item = left_.at_or_after(0);
    if (!item) return finished{};
    left_.erase(*item);
    return send{.item = *item, .slot = std::nullopt, .predicted_cached = std::nullopt};
  }

 private:
  number_set left_;
};

}  // namespace evalcore::prefix
