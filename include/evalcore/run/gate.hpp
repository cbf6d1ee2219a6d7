#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/run/comparison.hpp>
#include <evalcore/run/scored_runs.hpp>
#include <evalcore/stats/noninferiority.hpp>

namespace evalcore::run {

struct gate_options {
  double margin = 0.02;  ///< Of the score, that a candidate may lose; above 0, below 1.
  double alpha = 0.05;   ///< How often the gate may be wrong; above 0, below 0.5.
  double power = 0.8;    ///< That the figures on how many items are needed are for.
};

enum class gate_verdict : std::uint8_t { pass, fail, inconclusive };
/// "pass", …, in static storage.
[[nodiscard]] std::string_view name(gate_verdict of) noexcept;

/// What one suite shows of a candidate against a baseline.
struct suite_gate {
  scored_runs runs;    ///< The baseline, and the candidate.
  comparison between;  ///< The candidate against the baseline.
  /// Of the items that both scored; absent for fewer than two with parts of points.
  std::optional<stats::noninferiority> paired;
  /// With missing items as bad for the candidate as can be: what decides. Absent as above.
  std::optional<stats::noninferiority> worst;
  std::string_view test;                                      ///< That `worst` is of, paired_figures::kind().
  stats::conclusion shown = stats::conclusion::inconclusive;  ///< By `worst`.
  double p_inferior_adjusted = 1;                             ///< Holm's, over all suites.

  /// Of as many items that differ as much as these do, if there is no difference; absent for too few.
  std::optional<double> power;
  std::optional<double> detectable_effect;
  std::optional<std::uint64_t> items_needed;
};

/// What a gate of one or several suites says. `pass`: each is non-inferior (intersection-union test, which
/// needs no correction). `fail`: one at least is inferior (Holm). Else inconclusive: too few items.
struct gate_report {
  gate_options how;
  std::vector<suite_gate> suites;
  gate_verdict verdict = gate_verdict::inconclusive;
};

/// Each of the runs is a baseline and its candidate, in this order.
[[nodiscard]] gate_report gate(std::vector<scored_runs> suites, const gate_options& how);

/// What gate-result.json holds; docs/gate.md lists the members.
[[nodiscard]] json::value to_json(const gate_report& of);

}  // namespace evalcore::run
