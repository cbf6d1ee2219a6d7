#include "engine/stop_strings.hpp"

#include <algorithm>
#include <utility>

namespace evalcore::engine {

stop_strings::stop_strings(const std::vector<std::string>& stops) : stops_(stops) {
  for (const auto& stop : stops_) begins_[static_cast<unsigned char>(stop.front())] = true;
}

bool stop_strings::feed(std::string_view text, std::string& out) {
  const auto may_begin = [this](char c) { return begins_[static_cast<unsigned char>(c)]; };
  if (held_.empty() && std::ranges::none_of(text, may_begin)) {
    out += text;
    return false;
  }
  held_ += text;
  match best{};
  if (const auto* whole = first_in(held_, best)) {
    out.append(held_, 0, whole->begin);
    found_ = *whole->stop;
    held_.clear();
    return true;
  }
  const auto certain = held_.size() - undecided(held_);
  out.append(held_, 0, certain);
  held_.erase(0, certain);
  return false;
}

std::string stop_strings::take_held() { return std::exchange(held_, {}); }

const stop_strings::match* stop_strings::first_in(std::string_view text, match& best) const {
  const match* found = nullptr;
  for (const auto& stop : stops_) {
    const auto begin = text.find(stop);
    if (begin == std::string_view::npos) continue;
    const auto end = begin + stop.size();
    if (found != nullptr && (end > best.end || (end == best.end && begin > best.begin))) continue;
    best = {begin, end, &stop};
    found = &best;
  }
  return found;
}

std::size_t stop_strings::undecided(std::string_view text) const {
  std::size_t longest = 0;
  for (const auto& stop : stops_) {
    for (auto size = std::min(stop.size() - 1, text.size()); size > longest; --size) {
      if (text.ends_with(std::string_view(stop).substr(0, size))) {
        longest = size;
        break;
      }
    }
  }
  return longest;
}

}  // namespace evalcore::engine
