#include <evalcore/run/gate.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <evalcore/stats/multiplicity.hpp>
#include <evalcore/stats/power.hpp>
#include <evalcore/stats/rate.hpp>

namespace evalcore::run {
namespace {

std::optional<stats::noninferiority> test(std::span<const stats::pair> pairs, const paired_figures& figures,
                                          const gate_options& how) {
  if (figures.binary)
    return stats::compare_binary(figures.better, figures.worse, figures.pairs, how.margin, how.alpha);
  std::vector<double> differences;
  differences.reserve(pairs.size());
  for (const auto& one : pairs) differences.push_back(one.second - one.first);
  return stats::compare_scores(differences, how.margin, how.alpha);
}

/// Standard deviation of the items' differences if their mean is 0; where none differ, as many as can be so
/// without one showing.
std::optional<double> spread_of(std::span<const stats::pair> pairs) {
  if (pairs.size() < 2) return std::nullopt;
  double squares = 0;
  for (const auto& one : pairs) squares += (one.second - one.first) * (one.second - one.first);
  const auto n = static_cast<double>(pairs.size());
  if (squares > 0) return std::sqrt(squares / n);
  return stats::binary_spread(stats::exact_bounds(0, pairs.size(), 0.9).high);
}

suite_gate judge(scored_runs runs, const gate_options& how) {
  suite_gate out;
  out.between = compare(runs, 0, 1);
  const auto& pairs = out.between.pairs;
  out.paired = test(pairs, out.between.paired, how);
  out.worst = out.paired;
  out.test = out.between.paired.kind();
  if (!out.between.missing.empty()) {
    const auto all = worst_pairs(runs, 0, 1);
    const auto figures = figures_of(all);
    out.worst = test(all, figures, how);
    out.test = figures.kind();
  }
  if (out.worst) out.shown = out.worst->at(how.alpha);
  if (const auto spread = spread_of(pairs)) {
    const stats::paired_design design{.spread = *spread, .margin = how.margin, .alpha = how.alpha};
    out.power = stats::power_of(design, pairs.size());
    out.detectable_effect = stats::detectable_effect(*spread, pairs.size(), how.power, how.alpha);
    out.items_needed = stats::items_needed(design, how.power);
  }
  out.runs = std::move(runs);
  return out;
}

}  // namespace

std::string_view name(gate_verdict of) noexcept {
  switch (of) {
    case gate_verdict::pass:
      return "pass";
    case gate_verdict::fail:
      return "fail";
    case gate_verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

gate_report gate(std::vector<scored_runs> suites, const gate_options& how) {
  gate_report out;
  out.how = how;
  std::vector<double> not_shown;
  std::vector<double> inferior;
  for (auto& one : suites) {
    out.suites.push_back(judge(std::move(one), how));
    const auto& worst = out.suites.back().worst;
    not_shown.push_back(worst ? worst->p_non_inferior : 1);
    inferior.push_back(worst ? worst->p_inferior : 1);
  }
  const auto adjusted = stats::holm(inferior);
  for (std::size_t i = 0; i < adjusted.size(); ++i) out.suites[i].p_inferior_adjusted = adjusted[i];
  if (stats::intersection_union(not_shown) < how.alpha) {
    out.verdict = gate_verdict::pass;
  } else if (!adjusted.empty() && std::ranges::min(adjusted) < how.alpha) {
    out.verdict = gate_verdict::fail;
  }
  return out;
}

}  // namespace evalcore::run
