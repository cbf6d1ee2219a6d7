#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <evalcore/base/clock.hpp>

namespace evalcore::prefix {

/// When the prefixes of groups were used last: of the latest some hundred groups, whatever the suite has.
class recent_uses {
 public:
  struct use {
    std::uint64_t load = 0;  ///< What had gone into the cache by then.
    instant at{};
  };
  static constexpr std::size_t most = 1'024;

  /// Null: never, or long ago.
  [[nodiscard]] const use* find(std::uint32_t group) const {
    const auto found = uses_.find(group);
    return found == uses_.end() ? nullptr : &found->second;
  }
  void note(std::uint32_t group, const use& last) {
    if (uses_.size() == most && !uses_.contains(group)) forget_half();
    uses_[group] = last;
  }

 private:
  void forget_half() {
    std::vector<std::uint64_t> loads;
    for (const auto& [group, one] : uses_) loads.push_back(one.load);
    const auto middle = loads.begin() + static_cast<std::ptrdiff_t>(loads.size() / 2);
    std::ranges::nth_element(loads, middle);
    std::erase_if(uses_, [&](const auto& one) { return one.second.load <= *middle; });
  }

  std::unordered_map<std::uint32_t, use> uses_;
};

}  // namespace evalcore::prefix
