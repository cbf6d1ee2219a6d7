#include "run/episode_order.hpp"

#include <algorithm>

namespace evalcore::run {

episode_order::episode_order(std::uint32_t bound, bool slots) : slots_(slots) {
  for (std::uint32_t place = 0; place < std::max(bound, std::uint32_t{1}); ++place) free_.insert(place);
}

void episode_order::ready(episode_number which, bool resumed) {
  const auto from = places_.contains(which) ? rank::goes_on : resumed ? rank::resumed : rank::fresh;
  const turn at{from, arrivals_++};
  waiting_.emplace(at, which);
  turns_.emplace(which, at);
}

bool episode_order::withdraw(episode_number which) {
  const auto found = turns_.find(which);
  if (found == turns_.end()) return false;
  waiting_.erase(found->second);
  turns_.erase(found);
  return true;
}

void episode_order::end(episode_number which) {
  withdraw(which);
  const auto place = places_.find(which);
  if (place == places_.end()) return;
  free_.insert(place->second);
  places_.erase(place);
}

std::optional<episode_order::choice> episode_order::next() {
  if (waiting_.empty()) return std::nullopt;
  const auto [at, which] = *waiting_.begin();
  if (at.first != rank::goes_on) {
    if (free_.empty()) return std::nullopt;
    places_.emplace(which, *free_.begin());
    free_.erase(free_.begin());
  }
  withdraw(which);
  return choice{which, slots_ ? std::optional(places_.at(which)) : std::nullopt};
}

}  // namespace evalcore::run
