#include <evalcore/prefix/cut_points.hpp>

#include <algorithm>

namespace evalcore::prefix {
namespace {

/// How many requests before and after it are looked at: groups take turns, so that either may go out first.
constexpr std::size_t neighbours = 256;

}  // namespace

cut_points::cut_points(const plan& order) : plan_(order), rank_(order.order.size()) {
  for (std::uint32_t place = 0; place < plan_.order.size(); ++place) rank_[plan_.order[place]] = place;
}

std::vector<std::uint32_t> cut_points::of(std::uint32_t item) const {
  // What the suite and the group have in common stands first: a large group hides what is beyond it.
  std::vector<std::uint32_t> cuts{plan_.invariant_units, plan_.groups[plan_.group_of[item]].prefix_units};
  const auto look = [&](std::size_t first, std::ptrdiff_t step) {
    auto least = plan_.lengths[item];
    for (std::size_t seen = 0; seen < neighbours && first < plan_.shared.size(); ++seen) {
      least = std::min(least, plan_.shared[first]);
      if (least < plan_.min_prefix) return;
      if (cuts.back() != least) cuts.push_back(least);
      first += static_cast<std::size_t>(step);  // Below 0 it wraps round, which ends it.
    }
  };
  look(std::size_t{rank_[item]} + 1, 1);
  look(rank_[item], -1);
  std::erase_if(cuts, [this](std::uint32_t at) { return at < plan_.min_prefix; });
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace evalcore::prefix
