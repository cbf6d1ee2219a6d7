#include "net/dial_race.hpp"

#include <array>

namespace evalcore::net {

dial_race::step dial_race::next(instant now) {
  if (begun_ == addresses_) return {failed_ == addresses_ ? action::lost : action::wait, 0};
  last_begun_ = now;
  return {action::dial, begun_++};
}

dial_race::step dial_race::failed(instant now) {
  ++failed_;
  return next(now);
}

dial_race::step dial_race::expired(instant now) {
  const auto at = deadline();
  return at && now >= *at ? next(now) : step{};
}

std::optional<instant> dial_race::deadline() const {
  if (begun_ == addresses_) return std::nullopt;
  return last_begun_ + dial_head_start;
}

std::vector<std::size_t> dial_order(const std::vector<bool>& version_six) {
  std::array<std::vector<std::size_t>, 2> families;
  for (std::size_t index = 0; index < version_six.size(); ++index) {
    families[version_six[index] == version_six.front() ? 0 : 1].push_back(index);
  }
  std::vector<std::size_t> order;
  for (std::size_t turn = 0; order.size() < version_six.size(); ++turn) {
    for (const auto& family : families) {
      if (turn < family.size()) order.push_back(family[turn]);
    }
  }
  return order;
}

}  // namespace evalcore::net
