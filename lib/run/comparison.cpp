#include <evalcore/run/comparison.hpp>

#include <algorithm>

namespace evalcore::run {
namespace {

bool is_scored(const item_score& one) { return one.state == item_state::scored; }
bool is_binary(double value) { return value == 0 || value == 1; }

std::vector<std::string> categories_of(const scored_runs& of) {
  std::vector<std::string> names;
  for (const auto& name : of.categories) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

paired_figures figures_of(std::span<const stats::pair> pairs) {
  paired_figures out;
  out.pairs = pairs.size();
  if (pairs.empty()) return out;
  for (const auto& [first, second] : pairs) {
    out.first += first;
    out.second += second;
    if (second > first) ++out.better;
    if (second < first) ++out.worse;
    out.binary = out.binary && is_binary(first) && is_binary(second);
  }
  const auto n = static_cast<double>(pairs.size());
  out.first /= n;
  out.second /= n;
  if (out.binary) {
    out.bounds = stats::tango_interval(out.better, out.worse, out.pairs);
    out.p = stats::mcnemar_exact(out.worse, out.better);
    return out;
  }
  if (const auto bounds = stats::t_interval(*stats::paired_difference(pairs)))
    out.bounds = stats::interval{std::max(-1.0, bounds->low), std::min(1.0, bounds->high)};
  return out;
}

comparison compare(const scored_runs& of, std::size_t first, std::size_t second) {
  comparison out;
  out.first = first;
  out.second = second;
  const auto& before = of.runs.at(first).items;
  const auto& after = of.runs.at(second).items;
  const auto names = categories_of(of);
  std::vector<std::vector<stats::pair>> by_category(names.size());
  double worst = 0;
  double best = 0;
  for (std::size_t i = 0; i < of.ids.size(); ++i) {
    const bool both = is_scored(before[i]) && is_scored(after[i]);
    worst += (is_scored(after[i]) ? after[i].value : 0) - (is_scored(before[i]) ? before[i].value : 1);
    best += (is_scored(after[i]) ? after[i].value : 1) - (is_scored(before[i]) ? before[i].value : 0);
    if (!both) {
      out.missing.push_back(i);
      continue;
    }
    const stats::pair one{before[i].value, after[i].value};
    out.pairs.push_back(one);
    const auto category = std::ranges::find(names, of.categories[i]) - names.begin();
    by_category[static_cast<std::size_t>(category)].push_back(one);
    if (one.first != one.second) out.changed.push_back(i);
  }
  out.paired = figures_of(out.pairs);
  if (names.size() > 1) {
    for (std::size_t k = 0; k < names.size(); ++k)
      out.categories.push_back({names[k], figures_of(by_category[k])});
  }
  if (!of.ids.empty()) {
    const auto n = static_cast<double>(of.ids.size());
    out.difference_bounds = {worst / n, best / n};
  }
  return out;
}

std::vector<stats::pair> worst_pairs(const scored_runs& of, std::size_t first, std::size_t second) {
  const auto& before = of.runs.at(first).items;
  const auto& after = of.runs.at(second).items;
  std::vector<stats::pair> out;
  out.reserve(of.ids.size());
  for (std::size_t i = 0; i < of.ids.size(); ++i) {
    out.push_back({is_scored(before[i]) ? before[i].value : 1, is_scored(after[i]) ? after[i].value : 0});
  }
  return out;
}

}  // namespace evalcore::run
