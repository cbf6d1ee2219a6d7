#include <evalcore/stats/bootstrap.hpp>

#include <algorithm>
#include <cmath>

#include <evalcore/stats/mean.hpp>

namespace evalcore::stats {
namespace {

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::optional<bootstrap_summary> summarize(std::vector<double> replicates, double confidence) {
  const auto undefined = std::erase_if(replicates, [](double one) { return !std::isfinite(one); });
  const auto mean = mean_of(replicates);
  if (!mean || !mean->standard_error) return std::nullopt;
  std::ranges::sort(replicates);
  const double tail = (1 - confidence) / 2;
  return bootstrap_summary{
      {quantile(replicates, tail), quantile(replicates, 1 - tail)},
      *mean->standard_error * std::sqrt(static_cast<double>(replicates.size())),
      undefined,
  };
}

}  // namespace evalcore::stats
