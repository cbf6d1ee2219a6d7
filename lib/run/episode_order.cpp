#include "run/episode_order.hpp"

#include <algorithm>

namespace evalcore::run {

episode_order::episode_order(episode_places places) : how_(places) {
  how_.bound = std::max(how_.bound, std::uint32_t{1});
  for (std::uint32_t place = 0; place < how_.bound; ++place) free_.insert(place);
}

void episode_order::ready(episode_number which, bool resumed, std::uint64_t family) {
  const auto from = begun_.contains(which) ? rank::goes_on : resumed ? rank::resumed : rank::fresh;
  // Slots that cannot be copied compute the prefix each for itself, with or without a wait.
  if (how_.slots && !how_.can_share) family = 0;
  const position at{from, arrivals_++};
  waiting_.emplace(at, waiting{which, family});
  positions_.emplace(which, at);
}

bool episode_order::withdraw(episode_number which) {
  const auto found = positions_.find(which);
  if (found == positions_.end()) return false;
  waiting_.erase(found->second);
  positions_.erase(found);
  return true;
}

void episode_order::end(episode_number which) {
  withdraw(which);
  const auto found = begun_.find(which);
  if (found == begun_.end()) return;
  const auto& one = found->second;
  if (const auto lead = leaders_.find(one.family); lead != leaders_.end() && lead->second == which) {
    leaders_.erase(lead);
  }
  free_.insert(one.place);
  begun_.erase(found);
}

void episode_order::first_token(episode_number which) {
  const auto found = begun_.find(which);
  if (found == begun_.end() || how_.slots) return;
  // The prefix is in the one cache from here on.
  const auto family = found->second.family;
  if (const auto lead = leaders_.find(family); lead != leaders_.end() && lead->second == which) {
    leaders_.erase(lead);
    warm_.insert(family);
  }
}

void episode_order::turn_ended(episode_number which, bool ok) {
  const auto found = begun_.find(which);
  if (found == begun_.end()) return;
  found->second.out = false;
  const auto family = found->second.family;
  const auto lead = leaders_.find(family);
  if (lead == leaders_.end() || lead->second != which) return;
  leaders_.erase(lead);
  if (!ok) return;  // Another one leads.
  warm_.insert(family);
  if (how_.slots) to_copy_.insert(family);
}

void episode_order::shared(bool ok) {
  copying_ = false;
  if (!ok) how_.can_share = false;
}

bool episode_order::holds(std::uint32_t place, std::uint64_t family) const {
  const auto held = held_.find(place);
  return held != held_.end() && held->second == family;
}

std::optional<episode_order::copy> episode_order::copy_from(std::uint32_t place, std::uint64_t family) const {
  const auto takers = std::ranges::count_if(waiting_, [&](const auto& one) {
    return one.first.first != rank::goes_on && one.second.family == family;
  });
  copy out{place, {}};
  for (const auto free : free_) {
    if (!holds(free, family) && out.to.size() < static_cast<std::size_t>(takers)) out.to.push_back(free);
  }
  return out.to.empty() ? std::nullopt : std::optional(std::move(out));
}

std::optional<episode_order::copy> episode_order::copy_for(std::uint64_t family) const {
  if (!how_.can_share || family == 0) return std::nullopt;
  for (const auto& [which, one] : begun_) {
    if (!one.out && one.family == family) return copy_from(one.place, family);
  }
  return std::nullopt;
}

episode_order::choice episode_order::start_copy(copy what, std::uint64_t family) {
  for (const auto place : what.to) held_[place] = family;
  copying_ = true;
  return what;
}

std::uint32_t episode_order::take_place(std::uint64_t family) {
  const auto like = std::ranges::find_if(free_, [&](std::uint32_t place) { return holds(place, family); });
  const auto place = like != free_.end() ? *like : *free_.begin();
  free_.erase(place);
  held_[place] = family;
  return place;
}

std::optional<std::uint32_t> episode_order::slot_of(episode_number which) const {
  const auto found = begun_.find(which);
  return how_.slots && found != begun_.end() ? std::optional(found->second.place) : std::nullopt;
}

episode_order::choice episode_order::next() {
  if (copying_) return nothing{};
  // Before the leader's slot is busy again.
  while (!to_copy_.empty()) {
    const auto family = *to_copy_.begin();
    to_copy_.erase(to_copy_.begin());
    if (auto due = copy_for(family)) return start_copy(*std::move(due), family);
  }
  for (const auto& [at, one] : waiting_) {
    const auto [which, family] = one;
    if (at.first != rank::goes_on) {
      if (free_.empty()) return nothing{};
      if (leaders_.contains(family)) continue;
      const bool cold =
          std::ranges::none_of(free_, [&, like = family](auto place) { return holds(place, like); });
      if (auto due = cold ? copy_for(family) : std::nullopt) return start_copy(*std::move(due), family);
      if (family != 0 && !warm_.contains(family)) leaders_.emplace(family, which);
      begun_.emplace(which, begun{take_place(family), family});
    }
    begun_.at(which).out = true;
    const turn out{which, slot_of(which)};
    withdraw(which);
    return out;
  }
  return nothing{};
}

}  // namespace evalcore::run
