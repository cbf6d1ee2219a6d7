#include <evalcore/stats/sequential.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "stats/bisect.hpp"
#include "stats/distributions.hpp"

namespace evalcore::stats {
namespace {

/// The sum of what the items give until a look is a Brownian motion in the fraction of the items. This is its
/// density at a look among the paths that no look has stopped, with Simpson's weights.
struct going_on {
  std::vector<double> at;
  std::vector<double> mass;  ///< Density times weight.
};

/// Beyond so many standard deviations is less than any probability asked for.
constexpr double far = 8;
constexpr std::size_t points = 801;

/// From far below to the bound that stops, with the density that `density` gives.
template <class Density>
going_on below(double z, double fraction, const Density& density) {
  const double scale = std::sqrt(fraction);
  const double low = -far * scale;
  const double step = (std::min(z, far) * scale - low) / static_cast<double>(points - 1);
  going_on out;
  for (std::size_t i = 0; i < points; ++i) {
    const double weight = i == 0 || i + 1 == points ? 1 : i % 2 == 1 ? 4 : 2;
    out.at.push_back(low + step * static_cast<double>(i));
    out.mass.push_back(weight * step / 3 * density(out.at.back()));
  }
  return out;
}

double normal_density(double x, double deviation) {
  const double z = x / deviation;
  return std::exp(-z * z / 2) / (deviation * std::sqrt(2 * std::numbers::pi));
}

}  // namespace

double obrien_fleming_spent(double fraction, double alpha) {
  return 2 * normal_tail(normal_quantile_of_tail(alpha / 2) / std::sqrt(fraction));
}

std::vector<look> obrien_fleming_looks(std::span<const double> fractions, double alpha) {
  std::vector<look> out;
  going_on paths;
  for (const double fraction : fractions) {
    look one;
    one.fraction = fraction;
    one.spent = obrien_fleming_spent(fraction, alpha);
    if (out.empty()) {
      one.z = normal_quantile_of_tail(one.spent);
      paths = below(one.z, fraction, [&](double x) { return normal_density(x, std::sqrt(fraction)); });
    } else {
      const double scale = std::sqrt(fraction);
      const double deviation = std::sqrt(fraction - out.back().fraction);
      const double to_spend = one.spent - out.back().spent;
      const auto stops_above = [&](double z) {
        double sum = 0;
        for (std::size_t i = 0; i < points; ++i)
          sum += paths.mass[i] * normal_tail((z * scale - paths.at[i]) / deviation);
        return sum;
      };
      constexpr double highest = 40;
      one.z = bisect(-far, highest, [&](double z) { return stops_above(z) > to_spend; });
      paths = below(one.z, fraction, [&](double x) {
        double sum = 0;
        for (std::size_t i = 0; i < points; ++i)
          sum += paths.mass[i] * normal_density(x - paths.at[i], deviation);
        return sum;
      });
    }
    one.p = normal_tail(one.z);
    out.push_back(one);
  }
  return out;
}

}  // namespace evalcore::stats
