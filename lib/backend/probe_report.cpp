#include <algorithm>
#include <utility>

#include <evalcore/backend/probe.hpp>

#include "backend/probe_judges.hpp"

namespace evalcore::backend {

std::string_view name(ability what) noexcept {
  return what == ability::yes ? "yes" : what == ability::no ? "no" : "unknown";
}

std::string_view name(probe_depth depth) noexcept {
  return depth == probe_depth::full ? "full" : depth == probe_depth::cheap ? "cheap" : "facts";
}

const finding* probe_report::find(std::string_view wanted) const noexcept {
  const auto at = std::ranges::find(findings, wanted, &finding::name);
  return at == findings.end() ? nullptr : &*at;
}

probe_report facts_of(const backend& of) {
  const auto& ways = dialect_of(of.about());
  probe_report report;
  report.about = of.about();
  for (const auto& one : checks()) {
    auto known = known_of(ways, one.name).value_or(verdict{ability::unknown, "not asked"});
    report.findings.push_back({std::string(one.name), known.found, std::move(known.evidence)});
  }
  return report;
}

json::value to_json(const probe_report& report) {
  const auto number = [](const auto& of) { return of ? json::value(std::uint64_t{*of}) : json::value(); };
  json::array models;
  for (const auto& id : report.models) models.emplace_back(id);
  json::object findings;
  for (const auto& one : report.findings) {
    findings.emplace_back(one.name, json::object{{"answer", name(one.answer)}, {"evidence", one.evidence}});
  }
  const auto& about = report.about;
  json::object identity;
  for (const auto& [key, value] : about.identity) identity.emplace_back(key, value);
  return json::object{
      {"depth", name(report.depth)},
      {"alive", report.alive},
      {"questions", std::uint64_t{report.questions}},
      {"selector", about.selector},
      {"dialect", about.dialect},
      {"model", about.model},
      {"identity", std::move(identity)},
      {"slots", number(about.slots)},
      {"context_per_slot", number(about.context_per_slot)},
      {"models", std::move(models)},
      {"looks_like", report.looks_like.empty() ? json::value() : json::value(report.looks_like)},
      {"findings", std::move(findings)}};
}

}  // namespace evalcore::backend
