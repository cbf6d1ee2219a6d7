#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace evalcore::run {

/// How much answers and scores move when the same backend is asked the same again at production concurrency:
/// two answers to each of some items, which differ in nothing but their neighbours in the batch and what the
/// cache held.
struct noise_floor {
  std::uint64_t items = 0;      ///< To be asked twice.
  std::uint64_t pairs = 0;      ///< Of these, both answers are there and scored.
  std::uint64_t changed = 0;    ///< Pairs that differ in text, reasoning or calls.
  std::uint64_t flips = 0;      ///< Pairs whose scores differ.
  double squares = 0;           ///< Sum over the pairs of the square of the difference of their scores.
  std::uint64_t run_items = 0;  ///< Of the run whose score the standard error is about.

  /// Pairs that found different numbers of their tokens in the cache; absent: the backend reports none.
  std::optional<std::uint64_t> cache_differed;
  std::uint64_t changed_where_cache_differed = 0;

  /// Standard error of the difference between the scores of two runs of this backend: sqrt(mean square of the
  /// pairs' differences / run_items). That difference is 0 in the mean, as both answers come from one
  /// backend. Absent without pairs or items.
  [[nodiscard]] std::optional<double> difference_stderr() const noexcept;
  /// The same with the upper end of the exact 95 % interval of the rate of flips in place of the mean square,
  /// which is never more, as scores are 0 to 1. Absent without items.
  [[nodiscard]] std::optional<double> difference_stderr_at_most() const;
};

/// `noise floor: 40 of 40 items answered twice, 18 texts changed, 2 scores flipped (…)`.
[[nodiscard]] std::string noise_line(const noise_floor& of);

}  // namespace evalcore::run
