#include <evalcore/run/scored_runs.hpp>

#include <algorithm>

namespace evalcore::run {

std::string_view name(item_state of) noexcept {
  switch (of) {
    case item_state::scored:
      return "scored";
    case item_state::unscored:
      return "unscored";
    case item_state::errored:
      return "errored";
    case item_state::not_run:
      break;
  }
  return "not_run";
}

std::uint64_t scored_run::count(item_state of) const noexcept {
  return static_cast<std::uint64_t>(std::ranges::count(items, of, &item_score::state));
}

std::optional<double> scored_run::score() const noexcept {
  if (items.empty()) return std::nullopt;
  double total = 0;
  for (const auto& one : items) total += one.value;
  return total / static_cast<double>(items.size());
}

std::optional<double> scored_run::score_upper_bound() const noexcept {
  const auto lower = score();
  if (!lower) return std::nullopt;
  const auto missing = static_cast<double>(items.size() - count(item_state::scored));
  return *lower + missing / static_cast<double>(items.size());
}

}  // namespace evalcore::run
