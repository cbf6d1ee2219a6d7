#pragma once

namespace evalcore::stats {

/// Where `is_above(x)`, true at `low` and false at `high`, changes: to the last bit, or 200 halvings.
template <class Predicate>
[[nodiscard]] double bisect(double low, double high, const Predicate& is_above) {
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (is_above(middle) ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace evalcore::stats
