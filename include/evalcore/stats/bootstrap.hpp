#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <evalcore/stats/interval.hpp>

namespace evalcore::stats {

/// Which items a resample draws, with replacement, each equally likely to some n / 2^32. It depends on the
/// seed, the resample's number and the draw's alone (SplitMix64 as a function of a counter), so that
/// resamples are the same in any order, on any number of threads and on any machine.
class resample {
 public:
  constexpr resample(std::uint64_t seed, std::uint64_t number) noexcept : key_(mix(mix(seed) + number)) {}

  /// Calls visit(index) `n` times, each index below `n`, which is at most 2^32 - 1.
  template <class Visit>
  constexpr void draw(std::size_t n, const Visit& visit) const {
    constexpr std::uint64_t low = 0xFFFFFFFF;
    auto counter = key_;
    for (std::size_t left = n; left > 0;) {
      const auto bits = mix(counter += step);
      visit(static_cast<std::size_t>(((bits >> 32U) * n) >> 32U));
      if (--left == 0) break;
      visit(static_cast<std::size_t>(((bits & low) * n) >> 32U));
      --left;
    }
  }

 private:
  static constexpr std::uint64_t step = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    return z ^ (z >> 31U);
  }
  std::uint64_t key_;
};

/// The statistic of resamples `first` to `first + count - 1` of the items (nonparametric bootstrap: Efron,
/// Annals of Statistics 7, 1979). An item is what the statistic needs to know of it, as numbers to sum: its
/// score and 1 for a mean; 2 TP and 2 TP + FP + FN for F1; the sums over a cluster where clusters are drawn.
/// `statistic` makes the value of the sums, an array of `Width`; what is not finite stands for "undefined".
template <std::size_t Width, class Statistic>
[[nodiscard]] std::vector<double> bootstrap_replicates(std::span<const std::array<double, Width>> items,
                                                       std::uint64_t seed, std::uint64_t first,
                                                       std::size_t count, const Statistic& statistic) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::array<double, Width> sums{};
    resample(seed, first + i).draw(items.size(), [&](std::size_t index) {
      for (std::size_t k = 0; k < Width; ++k) sums[k] += items[index][k];
    });
    out[i] = statistic(sums);
  }
  return out;
}

/// The statistic of items with two numbers: the sum of the first over that of the second.
inline double ratio_of_sums(const std::array<double, 2>& sums) noexcept { return sums[0] / sums[1]; }

/// What the replicates say.
struct bootstrap_summary {
  interval bounds;            ///< Between their quantiles (percentile interval).
  double standard_error = 0;  ///< Their standard deviation.
  std::size_t undefined = 0;  ///< Replicates that are not finite, left out.
};

/// 0 < confidence < 1; the quantiles between two replicates are interpolated. Absent with fewer than two that
/// are finite.
[[nodiscard]] std::optional<bootstrap_summary> summarize(std::vector<double> replicates,
                                                         double confidence = usual_confidence);

}  // namespace evalcore::stats
