#include "prefix/seen.hpp"

#include <algorithm>
#include <iterator>

#include "prefix/depth_first.hpp"

namespace evalcore::prefix {

seen::seen(const plan& order, std::span<const sequence> prompts)
    : prompts_(prompts),
      by_rank_(order.suite_order ? walk_depth_first(prompts).order : order.order),
      rank_(prompts.size(), 0) {
  for (std::uint32_t rank = 0; rank < by_rank_.size(); ++rank) rank_[by_rank_[rank]] = rank;
}

void seen::computed(std::uint32_t item) {
  if (coming_.erase(rank_[item]) > 0) computed_.insert(rank_[item]);
}

void seen::failed(std::uint32_t item) {
  coming_.erase(rank_[item]);
  computed_.erase(rank_[item]);
}

std::uint32_t seen::prefix(std::uint32_t item) const {
  return std::max(computed_prefix(item), coming_prefix(item));
}

std::uint32_t seen::best(const std::set<std::uint32_t>& among, std::uint32_t item) const {
  std::uint32_t most = 0;
  const auto after = among.lower_bound(rank_[item]);
  if (after != among.end()) most = common_prefix(prompts_[item], prompts_[by_rank_[*after]]);
  if (after != among.begin()) {
    most = std::max(most, common_prefix(prompts_[item], prompts_[by_rank_[*std::prev(after)]]));
  }
  return most;
}

}  // namespace evalcore::prefix
