#pragma once

#include <cstdint>

namespace evalcore::stats {

/// P(Z > z) of the standard normal; z may be infinite.
[[nodiscard]] double normal_tail(double z) noexcept;
/// The z with P(Z > z) = tail, 0 <= tail <= 1; infinite at the ends.
[[nodiscard]] double normal_quantile_of_tail(double tail);

/// P(T > t) of Student's t. `degrees` > 0.
[[nodiscard]] double student_tail(double t, double degrees);
[[nodiscard]] double student_quantile_of_tail(double tail, double degrees);
/// P(T > t) of the noncentral t.
[[nodiscard]] double noncentral_student_tail(double t, double degrees, double noncentrality);

/// P(X <= x) of chi-squared. x >= 0, `degrees` > 0.
[[nodiscard]] double chi_squared_at_most(double x, double degrees);
/// The x with P(X <= x) = p of the beta distribution. a, b > 0.
[[nodiscard]] double beta_quantile(double a, double b, double p);
/// P(X <= k) of `n` throws of a fair coin. k < n.
[[nodiscard]] double fair_coin_at_most(std::uint64_t k, std::uint64_t n);

}  // namespace evalcore::stats
