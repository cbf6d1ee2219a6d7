#pragma once

#include <cstdint>

#include <evalcore/stats/interval.hpp>

namespace evalcore::stats {

// Intervals of a rate of which `seen` in `trials` were seen; `seen` <= `trials`, 0 < confidence < 1. Without
// trials they are 0 to 1.

/// The exact interval (Clopper and Pearson, Biometrika 26, 1934): at its ends so few, or so many, are seen in
/// (1 - confidence) / 2 of all cases. At 95 %, of nothing in n it reaches up to 1 - 0.025^(1/n), some 3.7 /
/// n.
[[nodiscard]] interval exact_bounds(std::uint64_t seen, std::uint64_t trials,
                                    double confidence = usual_confidence);

/// The score interval (Wilson, JASA 22, 1927), without correction for continuity: the rates that a test with
/// their own standard error does not refuse. Narrower than the exact one, and right on average.
[[nodiscard]] interval wilson_interval(std::uint64_t seen, std::uint64_t trials,
                                       double confidence = usual_confidence);

}  // namespace evalcore::stats
