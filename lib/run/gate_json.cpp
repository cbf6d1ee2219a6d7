#include <evalcore/base/json_optional.hpp>
#include <evalcore/run/gate.hpp>

#include "run/interval_json.hpp"

namespace evalcore::run {
namespace {

json::value told(const std::optional<stats::noninferiority>& of, double alpha) {
  if (!of) return {};
  return json::object{{"difference", of->difference},
                      {"bounds", range(of->bounds)},
                      {"p_non_inferior", of->p_non_inferior},
                      {"p_inferior", of->p_inferior},
                      {"shown", name(of->at(alpha))}};
}

json::value told(const suite_gate& of, double alpha) {
  const auto& baseline = of.runs.runs[0];
  const auto& candidate = of.runs.runs[1];
  return json::object{{"suite", of.runs.suite},
                      {"task", candidate.task},
                      {"baseline", baseline.path},
                      {"candidate", candidate.path},
                      {"items", std::uint64_t{of.runs.ids.size()}},
                      {"missing", std::uint64_t{of.between.missing.size()}},
                      {"shown", name(of.shown)},
                      {"test", of.test},
                      {"scores", to_json(of.between.paired)},
                      {"paired", told(of.paired, alpha)},
                      {"missing_worst", told(of.worst, alpha)},
                      {"p_inferior_holm", of.p_inferior_adjusted},
                      {"power", json::or_null(of.power)},
                      {"detectable_effect", json::or_null(of.detectable_effect)},
                      {"items_needed", json::or_null(of.items_needed)}};
}

}  // namespace

json::value to_json(const gate_report& of) {
  json::array suites;
  for (const auto& one : of.suites) suites.push_back(told(one, of.how.alpha));
  return json::object{{"verdict", name(of.verdict)},
                      {"pass_means", "every suite non-inferior (intersection-union)"},
                      {"fail_means", "some suite inferior (Holm)"},
                      {"margin", of.how.margin},
                      {"alpha", of.how.alpha},
                      {"power", of.how.power},
                      {"suites", std::move(suites)}};
}

}  // namespace evalcore::run
