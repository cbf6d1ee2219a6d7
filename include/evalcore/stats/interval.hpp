#pragma once

namespace evalcore::stats {

/// From low to high, both included.
struct interval {
  double low = 0;
  double high = 1;

  friend bool operator==(const interval&, const interval&) = default;
};

/// Of intervals and of one-sided tests, unless a caller says otherwise.
inline constexpr double usual_confidence = 0.95;
inline constexpr double usual_alpha = 0.05;

}  // namespace evalcore::stats
