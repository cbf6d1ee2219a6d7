#include <evalcore/score/rate_bounds.hpp>

#include <boost/math/special_functions/beta.hpp>

namespace evalcore::score {

rate_bounds exact_bounds(std::uint64_t seen, std::uint64_t trials) {
  constexpr double tail = 0.025;
  const auto k = static_cast<double>(seen);
  const auto n = static_cast<double>(trials);
  rate_bounds out;
  if (seen > 0) out.low = boost::math::ibeta_inv(k, n - k + 1, tail);
  if (seen < trials) out.high = boost::math::ibeta_inv(k + 1, n - k, 1 - tail);
  return out;
}

}  // namespace evalcore::score
