#pragma once

#include <span>
#include <vector>

#include <evalcore/stats/interval.hpp>

namespace evalcore::stats {

/// One look at data that are still coming.
struct look {
  double fraction = 0;  ///< Of all items, that are there; above that of the look before, at most 1.
  double spent = 0;     ///< Of alpha, until here.
  double z = 0;         ///< A statistic above it stops with the claim shown. Infinite: none does.
  double p = 0;         ///< The same as a one-sided p.
};

/// What a one-sided test of level alpha has spent at that fraction, 2 - 2 Phi(z(1 - alpha/2) /
/// sqrt(fraction)): Lan and DeMets (Biometrika 70, 1983), of O'Brien's and Fleming's type.
[[nodiscard]] double obrien_fleming_spent(double fraction, double alpha);

/// The bounds of looks at these fractions, increasing within 0 to 1, such that the test is wrong with
/// probability alpha over all of them, when the statistic at each is that of all items until there
/// (Armitage, McPherson and Rowe, JRSS A 132, 1969, by numerical integration, to some 1e-7).
[[nodiscard]] std::vector<look> obrien_fleming_looks(std::span<const double> fractions,
                                                     double alpha = usual_alpha);

}  // namespace evalcore::stats
