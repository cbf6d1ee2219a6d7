#include <evalcore/stats/power.hpp>

#include <algorithm>
#include <cmath>

#include "stats/bisect.hpp"
#include "stats/distributions.hpp"

namespace evalcore::stats {
namespace {

/// The power of a one-sided t test of n values with this standard deviation for a mean that is `effect` above
/// what is to be refused.
double power_for(double effect, double spread, std::uint64_t n, double alpha) {
  if (n < 2) return 0;
  const auto count = static_cast<double>(n);
  const double noncentrality = effect / spread * std::sqrt(count);
  const double critical = student_quantile_of_tail(alpha, count - 1);
  // So far out the mean's own error is lost beside the standard deviation's, whose square is chi-squared: the
  // difference is below 1e-5, and the noncentral t is hard to compute.
  if (noncentrality > 1e3)
    return chi_squared_at_most((count - 1) * std::pow(noncentrality / critical, 2), count - 1);
  return noncentral_student_tail(critical, count - 1, noncentrality);
}

}  // namespace

double binary_spread(double differing, double difference) {
  return std::sqrt(std::max(0.0, differing - difference * difference));
}

double power_of(const paired_design& of, std::uint64_t n) {
  return power_for(of.margin + of.difference, of.spread, n, of.alpha);
}

std::optional<std::uint64_t> items_needed(const paired_design& of, double power) {
  constexpr std::uint64_t most = 1'000'000'000;
  if (of.margin + of.difference <= 0) return std::nullopt;
  std::uint64_t enough = 2;
  while (power_of(of, enough) < power) {
    if (enough >= most) return std::nullopt;
    enough = std::min(2 * enough, most);
  }
  std::uint64_t low = enough / 2;  // Too few, or below 2.
  while (enough - low > 1) {
    const auto middle = low + (enough - low) / 2;
    (power_of(of, middle) < power ? low : enough) = middle;
  }
  return enough;
}

std::optional<double> detectable_effect(double spread, std::uint64_t n, double power, double alpha) {
  if (n < 2) return std::nullopt;
  double enough = spread;
  while (power_for(enough, spread, n, alpha) < power) enough *= 2;
  return bisect(0, enough, [&](double effect) { return power_for(effect, spread, n, alpha) < power; });
}

}  // namespace evalcore::stats
