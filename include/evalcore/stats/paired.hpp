#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <evalcore/stats/interval.hpp>
#include <evalcore/stats/mean.hpp>

namespace evalcore::stats {

/// The scores of one item under two treatments, each the mean of its repeats if there are several.
struct pair {
  double first = 0;
  double second = 0;
};

/// The mean of second - first: what two treatments of the same items differ by, without what the items differ
/// by among themselves. An item counts once, however often it was repeated. `clusters` names what each item
/// belongs to, for items that are alike; empty: each stands alone. Absent without pairs.
[[nodiscard]] std::optional<estimate> paired_difference(std::span<const pair> pairs,
                                                        std::span<const std::uint64_t> clusters = {});

/// The exact two-sided test of McNemar (Psychometrika 12, 1947; binomial): the probability, if the two were
/// equally good, that of the pairs which differ so few or fewer are on one side. 1 where none differ.
[[nodiscard]] double mcnemar_exact(std::uint64_t only_first, std::uint64_t only_second);

/// The score interval for the difference of the rates of paired right-or-wrong answers, (gained - lost) /
/// pairs (Tango, Statistics in Medicine 17, 1998). `lost`: pairs of which only the first is right; `gained`:
/// only the second; gained + lost <= pairs. Also where no pair differs it has a width, unlike Wald's.
/// Without pairs -1 to 1.
[[nodiscard]] interval tango_interval(std::uint64_t gained, std::uint64_t lost, std::uint64_t pairs,
                                      double confidence = usual_confidence);

/// Its statistic: normal with variance 1 if the true difference is `difference`, which is between -1 and 1,
/// and larger the more the pairs gained.
[[nodiscard]] double tango_statistic(std::uint64_t gained, std::uint64_t lost, std::uint64_t pairs,
                                     double difference);

}  // namespace evalcore::stats
