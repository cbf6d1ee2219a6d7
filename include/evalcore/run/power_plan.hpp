#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/run/gate.hpp>
#include <evalcore/stats/power.hpp>
#include <evalcore/stats/sequential.hpp>

namespace evalcore::run {

/// A gate that is planned: what it is to show, and of which items.
struct power_question {
  gate_options test;
  double difference = 0;  ///< True mean of candidate - baseline.
  /// Share of items that only one of the two gets right: a tenth where nothing is known of the runs, neither
  /// it nor the spread.
  std::optional<double> differing;
  std::optional<double> spread;  ///< Standard deviation of the items' differences; goes before `differing`.
  std::optional<std::uint64_t> items;  ///< What so many items can show; at least 2.
  std::uint64_t looks = 0;             ///< At so many equal parts of the items one may stop early; 0: none.
};

struct power_plan {
  power_question asked;
  stats::paired_design design;
  std::optional<std::uint64_t> items_needed;  ///< For the power that was asked; absent: none are enough.
  std::optional<double> power_of_items;       ///< Of `asked.items`.
  std::optional<double> detectable_effect;    ///< By them.
  std::vector<stats::look> looks;
};

/// Errors: invalid_argument where fewer items differ than the true difference needs.
[[nodiscard]] result<power_plan> plan_power(const power_question& asked);

/// docs/statistics.md lists the members.
[[nodiscard]] json::value to_json(const power_plan& of);

}  // namespace evalcore::run
