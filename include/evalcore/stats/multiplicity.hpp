#pragma once

#include <span>
#include <vector>

namespace evalcore::stats {

/// Adjusted p-values, in the order given (Holm, Scandinavian Journal of Statistics 6, 1979): one at most
/// alpha shows its claim, and the chance that any claim so shown is wrong is at most alpha, however they
/// depend on each other. For "some of these got worse".
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

/// For "each of these holds": the largest, without any correction (intersection-union test; Berger,
/// Technometrics 24, 1982). 1 without p-values.
[[nodiscard]] double intersection_union(std::span<const double> p_values);

}  // namespace evalcore::stats
