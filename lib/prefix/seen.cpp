#include "prefix/seen.hpp"

namespace evalcore::prefix {

void seen::computed(std::uint32_t item) {
  const auto rank = common_.rank(item);
  if (!coming_.has(rank)) return;
  coming_.erase(rank);
  computed_.insert(rank);
}

void seen::failed(std::uint32_t item) {
  const auto rank = common_.rank(item);
  if (coming_.has(rank)) coming_.erase(rank);
  if (computed_.has(rank)) computed_.erase(rank);
}

seen::nearest seen::near(const number_set& among, std::uint32_t item) const {
  nearest most;
  const auto look = [&](std::optional<std::uint32_t> rank) {
    if (!rank) return;
    const auto other = plan_.order[*rank];
    if (const auto units = common_.of(item, other); units > most.units) most = {units, other};
  };
  look(among.at_or_after(common_.rank(item)));
  look(among.before(common_.rank(item)));
  return most;
}

}  // namespace evalcore::prefix
