#include <evalcore/stats/mean.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "stats/distributions.hpp"

namespace evalcore::stats {
namespace {

double sum_of(std::span<const double> values) {
  double sum = 0;
  for (const double one : values) sum += one;
  return sum;
}

}  // namespace

std::optional<estimate> mean_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  estimate out{sum_of(values) / n, values.size(), std::nullopt, 0};
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double one : values) squares += (one - out.value) * (one - out.value);
  out.standard_error = std::sqrt(squares / (n - 1) / n);
  out.degrees_of_freedom = n - 1;
  return out;
}

std::optional<estimate> mean_from_sums(std::uint64_t count, double sum, double squares) {
  if (count == 0) return std::nullopt;
  const auto n = static_cast<double>(count);
  estimate out{sum / n, count, std::nullopt, 0};
  if (count < 2) return out;
  const double deviations = std::max(0.0, squares - sum * out.value);
  out.standard_error = std::sqrt(deviations / (n - 1) / n);
  out.degrees_of_freedom = n - 1;
  return out;
}

std::optional<estimate> clustered_mean(std::span<const double> values,
                                       std::span<const std::uint64_t> clusters) {
  if (values.empty()) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  estimate out{sum_of(values) / n, values.size(), std::nullopt, 0};
  std::unordered_map<std::uint64_t, std::size_t> places;
  std::vector<double> residuals;  // By the order in which clusters first appear, so that the sum is the same.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [place, fresh] = places.try_emplace(clusters[i], residuals.size());
    if (fresh) residuals.push_back(0);
    residuals[place->second] += values[i] - out.value;
  }
  if (residuals.size() < 2) return out;
  const auto groups = static_cast<double>(residuals.size());
  double squares = 0;
  for (const double one : residuals) squares += one * one;
  out.standard_error = std::sqrt(groups / (groups - 1) * squares) / n;
  out.degrees_of_freedom = groups - 1;
  return out;
}

std::optional<estimate> stratified_mean(std::span<const estimate> strata) {
  if (strata.empty()) return std::nullopt;
  const auto count = static_cast<double>(strata.size());
  estimate out;
  double variance = 0;
  double spread = 0;
  bool known = true;
  for (const auto& one : strata) {
    out.value += one.value / count;
    out.n += one.n;
    known = known && one.standard_error;
    if (!known) continue;
    const double square = *one.standard_error * *one.standard_error;
    variance += square;
    spread += square * square / one.degrees_of_freedom;
  }
  if (!known) return out;
  out.standard_error = std::sqrt(variance) / count;
  // Without any spread its standard error is 0, and no degrees of freedom change that.
  out.degrees_of_freedom = spread > 0 ? variance * variance / spread : static_cast<double>(out.n);
  return out;
}

std::optional<interval> t_interval(const estimate& of, double confidence) {
  if (!of.standard_error) return std::nullopt;
  const double half =
      student_quantile_of_tail((1 - confidence) / 2, of.degrees_of_freedom) * *of.standard_error;
  return interval{of.value - half, of.value + half};
}

}  // namespace evalcore::stats
