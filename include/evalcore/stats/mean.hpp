#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <evalcore/stats/interval.hpp>

namespace evalcore::stats {

/// A mean and how sure it is.
struct estimate {
  double value = 0;
  std::uint64_t n = 0;  ///< Values that it is of.
  /// Absent: what is there does not tell, as one value or one cluster does not.
  std::optional<double> standard_error;
  double degrees_of_freedom = 0;  ///< Of Student's t; only with a standard error.
};

// Values are finite; one that is not a number is no score, and the caller leaves it out and says so.

/// The mean with the standard error of the central limit theorem, s / sqrt(n), where s has n - 1. Absent
/// without values.
[[nodiscard]] std::optional<estimate> mean_of(std::span<const double> values);

/// The same of n values that are 0 to 1, by their sum and the sum of their squares.
[[nodiscard]] std::optional<estimate> mean_from_sums(std::uint64_t n, double sum, double squares);

/// The mean of values that come in clusters (several questions on one text, several answers to one
/// question), which have a name each; as many as values. The standard error is robust to any likeness within
/// a cluster (CR1: the squares of the clusters' sums of residuals, times G / (G - 1) for G clusters), with
/// G - 1 degrees of freedom: Cameron and Miller, Journal of Human Resources 50, 2015, section VI. With a
/// cluster for each value it is that of mean_of(). Absent without values.
[[nodiscard]] std::optional<estimate> clustered_mean(std::span<const double> values,
                                                     std::span<const std::uint64_t> clusters);

/// The mean of the strata's means, each of the same weight (macro average). The variance is that of
/// independent strata, the degrees of freedom are Welch's and Satterthwaite's (Biometrics Bulletin 2, 1946).
/// Without a standard error as soon as one of the strata has none. Absent without strata.
[[nodiscard]] std::optional<estimate> stratified_mean(std::span<const estimate> strata);

/// value ± t · standard error, 0 < confidence < 1. Absent without a standard error.
[[nodiscard]] std::optional<interval> t_interval(const estimate& of, double confidence = usual_confidence);

}  // namespace evalcore::stats
