#include "stats/distributions.hpp"

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace evalcore::stats {

double normal_tail(double z) noexcept { return std::erfc(z / std::numbers::sqrt2) / 2; }

double normal_quantile_of_tail(double tail) {
  constexpr auto infinite = std::numeric_limits<double>::infinity();
  if (tail <= 0) return infinite;
  if (tail >= 1) return -infinite;
  return std::numbers::sqrt2 * boost::math::erfc_inv(2 * tail);
}

double student_tail(double t, double degrees) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  return boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), t));
}

double student_quantile_of_tail(double tail, double degrees) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), tail));
}

double noncentral_student_tail(double t, double degrees, double noncentrality) {
  return boost::math::cdf(boost::math::complement(boost::math::non_central_t(degrees, noncentrality), t));
}

double chi_squared_at_most(double x, double degrees) { return boost::math::gamma_p(degrees / 2, x / 2); }

double beta_quantile(double a, double b, double p) { return boost::math::ibeta_inv(a, b, p); }

double fair_coin_at_most(std::uint64_t k, std::uint64_t n) {
  return boost::math::ibeta(static_cast<double>(n - k), static_cast<double>(k) + 1, 0.5);
}

}  // namespace evalcore::stats
