#include <algorithm>

#include <evalcore/run/summary.hpp>
#include <evalcore/stats/rate.hpp>

namespace evalcore::run {
namespace {

/// No score is beyond 0 and 1.
std::optional<stats::interval> score_t_interval(const stats::estimate& of) {
  const auto bounds = stats::t_interval(of);
  if (!bounds) return std::nullopt;
  return stats::interval{std::max(0.0, bounds->low), std::min(1.0, bounds->high)};
}

}  // namespace

double metric_summary::score() const noexcept {
  return items == 0 ? 0.0 : total / static_cast<double>(items);
}

double metric_summary::upper_bound() const noexcept {
  return items == 0 ? 0.0 : (total + static_cast<double>(items - scored)) / static_cast<double>(items);
}

std::optional<stats::estimate> metric_summary::estimate() const {
  return stats::mean_from_sums(items, total, squares);
}

std::optional<score_interval> metric_summary::interval() const {
  if (scored == 0) return std::nullopt;
  // Between 0 and 1 a square is less than its root, so the sums are equal only where all are 0 or 1.
  if (squares == total)
    return score_interval{"wilson", stats::wilson_interval(static_cast<std::uint64_t>(total), items)};
  const auto bounds = score_t_interval(*estimate());
  return bounds ? std::optional(score_interval{"t", *bounds}) : std::nullopt;
}

std::optional<stats::interval> macro_average::interval() const { return score_t_interval(mean); }

std::vector<macro_average> summary::macro_averages() const {
  std::vector<macro_average> out;
  for (const auto& first : metrics) {
    if (std::ranges::any_of(out, [&](const macro_average& one) { return one.metric == first.metric; }))
      continue;
    std::vector<stats::estimate> strata;
    std::uint64_t unevaluated = 0;
    for (const auto& one : metrics) {
      const auto mean = one.metric == first.metric ? one.estimate() : std::nullopt;
      if (!mean) continue;
      strata.push_back(*mean);
      unevaluated += static_cast<std::uint64_t>(one.scored == 0);
    }
    if (strata.size() < 2) continue;
    out.push_back({first.metric, strata.size(), unevaluated, *stats::stratified_mean(strata)});
  }
  return out;
}

}  // namespace evalcore::run
