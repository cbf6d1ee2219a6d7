#include <evalcore/base/json_optional.hpp>
#include <evalcore/run/comparison.hpp>

#include "run/interval_json.hpp"

namespace evalcore::run {
namespace {

json::value cost_of(const std::optional<cost>& of) {
  return of ? json::value(in_usd(of->least)) : json::value();
}

json::value run_json(const scored_run& of) {
  return json::object{
      {"store", of.path},
      {"model", of.model},
      {"task", of.task},
      {"scored", of.count(item_state::scored)},
      {"unscored", of.count(item_state::unscored)},
      {"errors", of.count(item_state::errored)},
      {"not_run", of.count(item_state::not_run)},
      {"score", json::or_null(of.score())},
      {"score_bounds", json::array{json::or_null(of.score()), json::or_null(of.score_upper_bound())}},
      {"wall_s", of.wall_s},
      {"spent_usd", cost_of(of.spent)},
      {"spent_usd_at_most",
       of.spent && of.spent->most ? json::value(in_usd(*of.spent->most)) : json::value()},
      {"prompt_tokens", json::or_null(of.prompt_tokens)},
      {"completion_tokens", json::or_null(of.completion_tokens)}};
}

json::value side(const item_score& of) {
  return json::object{{"state", name(of.state)},
                      {"value", of.state == item_state::scored ? json::value(of.value) : json::value()},
                      {"why", json::text_or_null(of.why)}};
}

json::value items(const scored_runs& of, const comparison& between, const std::vector<std::size_t>& which) {
  json::array out;
  for (const auto index : which) {
    out.push_back(json::object{{"id", of.ids[index]},
                               {"category", json::text_or_null(of.categories[index])},
                               {"first", side(of.runs[between.first].items[index])},
                               {"second", side(of.runs[between.second].items[index])}});
  }
  return out;
}

json::value one_json(const scored_runs& of, const comparison& between) {
  json::array categories;
  for (const auto& one : between.categories) {
    categories.push_back(
        json::object{{"category", json::text_or_null(one.name)}, {"paired", to_json(one.paired)}});
  }
  return json::object{{"first", std::uint64_t{between.first}},
                      {"second", std::uint64_t{between.second}},
                      {"paired", to_json(between.paired)},
                      {"difference_bounds", range(between.difference_bounds)},
                      {"categories", std::move(categories)},
                      {"changed", items(of, between, between.changed)},
                      {"missing", items(of, between, between.missing)}};
}

}  // namespace

json::value to_json(const paired_figures& of) {
  const bool any = of.pairs > 0;
  const auto known = [&](double figure) { return any ? json::value(figure) : json::value(); };
  return json::object{{"pairs", of.pairs},
                      {"first", known(of.first)},
                      {"second", known(of.second)},
                      {"difference", known(of.difference())},
                      {"interval", range(of.bounds)},
                      {"interval_kind", of.bounds ? json::value(of.kind()) : json::value()},
                      {"better", of.better},
                      {"worse", of.worse},
                      {"mcnemar_p", json::or_null(of.p)}};
}

json::value comparison_json(const scored_runs& of, std::span<const comparison> all) {
  json::array runs;
  for (const auto& one : of.runs) runs.push_back(run_json(one));
  json::array comparisons;
  for (const auto& one : all) comparisons.push_back(one_json(of, one));
  return json::object{{"suite", of.suite},
                      {"items", std::uint64_t{of.ids.size()}},
                      {"runs", std::move(runs)},
                      {"comparisons", std::move(comparisons)}};
}

}  // namespace evalcore::run
