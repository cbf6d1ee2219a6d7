#include <evalcore/stats/noninferiority.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <evalcore/stats/mean.hpp>
#include <evalcore/stats/paired.hpp>

#include "stats/distributions.hpp"

namespace evalcore::stats {

std::string_view name(conclusion of) noexcept {
  switch (of) {
    case conclusion::non_inferior:
      return "non_inferior";
    case conclusion::inferior:
      return "inferior";
    case conclusion::inconclusive:
      break;
  }
  return "inconclusive";
}

conclusion noninferiority::at(double alpha) const noexcept {
  if (p_non_inferior < alpha) return conclusion::non_inferior;
  return p_inferior < alpha ? conclusion::inferior : conclusion::inconclusive;
}

noninferiority compare_binary(std::uint64_t gained, std::uint64_t lost, std::uint64_t pairs, double margin,
                              double alpha) {
  noninferiority out;
  out.bounds = tango_interval(gained, lost, pairs, 1 - 2 * alpha);
  if (pairs == 0) return out;
  out.difference = (static_cast<double>(gained) - static_cast<double>(lost)) / static_cast<double>(pairs);
  const double z = tango_statistic(gained, lost, pairs, -margin);
  out.p_non_inferior = normal_tail(z);
  out.p_inferior = normal_tail(-z);
  return out;
}

std::optional<noninferiority> compare_scores(std::span<const double> differences, double margin,
                                             double alpha) {
  const auto mean = mean_of(differences);
  if (!mean || !mean->standard_error) return std::nullopt;
  const auto n = static_cast<double>(mean->n);
  const double error = *mean->standard_error;
  const double excess = mean->value + margin;
  const double t = error > 0     ? excess / error
                   : excess == 0 ? 0
                                 : std::copysign(std::numeric_limits<double>::infinity(), excess);
  const auto unseen = [&](double share) { return std::pow(1 - std::clamp(share, 0.0, 1.0), n); };
  const double half =
      std::max(student_quantile_of_tail(alpha, mean->degrees_of_freedom) * error, 1 - std::pow(alpha, 1 / n));
  noninferiority out;
  out.difference = mean->value;
  out.bounds = {std::max(-1.0, mean->value - half), std::min(1.0, mean->value + half)};
  out.p_non_inferior = std::max(student_tail(t, mean->degrees_of_freedom), unseen(excess));
  out.p_inferior = std::max(student_tail(-t, mean->degrees_of_freedom), unseen(-excess));
  return out;
}

}  // namespace evalcore::stats
