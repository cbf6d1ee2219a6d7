#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <evalcore/run/summary.hpp>
#include <evalcore/stats/rate.hpp>

namespace evalcore::run {
namespace {

/// No value of a loss is greater.
constexpr double most_loss = 2;

/// No score is beyond 0 and the greatest value.
std::optional<stats::interval> score_t_interval(const stats::estimate& of, double most = 1) {
  const auto bounds = stats::t_interval(of);
  if (!bounds) return std::nullopt;
  return stats::interval{std::max(0.0, bounds->low), std::min(most, bounds->high)};
}

bool of_logprobs(score::figure what) {
  return what == score::figure::perplexity || what == score::figure::bits_per_unit;
}

/// Perplexity, or its logarithm, where the mean of the logprobs is this.
double from_mean(score::figure what, double mean) {
  return what == score::figure::perplexity ? std::exp(-mean) : -mean / std::numbers::ln2;
}

/// The mean with as much for each missing item.
double mean_with(const metric_summary& of, double each_missing) {
  const auto missing = static_cast<double>(of.items - of.scored);
  return (of.total + each_missing * missing) / static_cast<double>(of.items);
}

}  // namespace

double metric_summary::score() const noexcept {
  if (items == 0) return 0;
  if (!of_logprobs(comes_to)) return mean_with(*this, comes_to == score::figure::loss ? most_loss : 0);
  if (scored < items) return std::numeric_limits<double>::infinity();
  return from_mean(comes_to, total / weight);
}

double metric_summary::upper_bound() const noexcept {
  if (items == 0) return 0;
  if (!of_logprobs(comes_to)) return mean_with(*this, comes_to == score::figure::loss ? 0 : 1);
  // What is missing may be as long as it likes, and sure.
  return from_mean(comes_to, scored < items ? 0 : total / weight);
}

std::optional<stats::estimate> metric_summary::estimate() const {
  if (of_logprobs(comes_to)) return std::nullopt;
  if (comes_to == score::figure::mean) return stats::mean_from_sums(items, total, squares);
  // By halves, since the sums are those of values up to 1.
  const auto missing = static_cast<double>(items - scored);
  auto half =
      stats::mean_from_sums(items, total / most_loss + missing, squares / (most_loss * most_loss) + missing);
  if (!half) return half;
  half->value *= most_loss;
  if (half->standard_error) *half->standard_error *= most_loss;
  return half;
}

std::optional<score_interval> metric_summary::interval() const {
  if (scored == 0 || of_logprobs(comes_to)) return std::nullopt;
  // Between 0 and 1 a square is less than its root, so the sums are equal only where all are 0 or 1.
  if (comes_to == score::figure::mean && squares == total)
    return score_interval{"wilson", stats::wilson_interval(static_cast<std::uint64_t>(total), items)};
  const auto bounds = score_t_interval(*estimate(), comes_to == score::figure::loss ? most_loss : 1);
  return bounds ? std::optional(score_interval{"t", *bounds}) : std::nullopt;
}

std::optional<stats::interval> macro_average::interval() const { return score_t_interval(mean); }

std::vector<macro_average> summary::macro_averages() const {
  std::vector<macro_average> out;
  for (const auto& first : metrics) {
    if (first.comes_to != score::figure::mean) continue;
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
