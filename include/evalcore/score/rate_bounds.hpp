#pragma once

#include <cstdint>

namespace evalcore::score {

/// A range of rates, 0 to 1.
struct rate_bounds {
  double low = 0;
  double high = 1;
};

/// The exact 95 % interval of a rate of which `seen` in `trials` were seen (Clopper and Pearson, Biometrika
/// 26, 1934): at its ends so few, or so many, are seen in 2.5 % of all cases. Of nothing in n it reaches up
/// to 1 - 0.025^(1/n), some 3.7 / n. Without trials it is 0 to 1. `seen` <= `trials`.
[[nodiscard]] rate_bounds exact_bounds(std::uint64_t seen, std::uint64_t trials);

}  // namespace evalcore::score
