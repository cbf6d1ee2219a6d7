#include "run/report_json.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include <evalcore/base/json_optional.hpp>
#include <evalcore/run/ids.hpp>

#include "run/report_text.hpp"

namespace evalcore::run {
namespace {

json::value text_or_null(const std::string& text) { return text.empty() ? json::value() : json::value(text); }

json::value member(const json::value& of, std::string_view key) {
  const auto* held = of.find(key);
  return held != nullptr ? *held : json::value();
}

/// These members of an object.
json::value only(const json::value& of, std::initializer_list<std::string_view> keys) {
  json::object out;
  for (const auto key : keys) out.emplace_back(std::string(key), member(of, key));
  return out;
}

/// Failures by class, with the items that ended in it.
json::value failures_json(const report_history& of, const scored_run& scored) {
  std::map<std::string, std::uint64_t> items;
  for (const auto& one : scored.items) {
    if (one.state == item_state::errored) items[one.why] += 1;
  }
  json::array out;
  for (const auto& one : of.failures) {
    out.emplace_back(json::object{{"class", one.code},
                                  {"attempts", one.attempts},
                                  {"items", items[one.code]},
                                  {"example", cut_text(one.example)}});
  }
  return out;
}

json::value setup_json(const run_setup& of) {
  const auto& defaults = of.request.defaults;
  return json::object{{"order", of.order},
                      {"tools", of.tools},
                      {"concurrency", std::uint64_t{of.concurrency}},
                      {"adaptive", of.adaptive},
                      {"temperature", json::or_null(defaults.temperature)},
                      {"top_p", json::or_null(defaults.top_p)},
                      {"max_tokens", json::or_null(defaults.max_tokens)},
                      {"seed", json::or_null(defaults.seed)},
                      {"scorer", text_or_null(of.host_scorer.empty() ? of.scorer_named : of.host_scorer)}};
}

/// The folder's name tells runs of one model apart; where it lies is nobody else's business.
std::string folder_of(const std::string& store) {
  std::error_code failed;
  return std::filesystem::absolute(store, failed).parent_path().filename().string();
}

}  // namespace

json::value report_run_json(const report_run& of, const scored_run& scored) {
  const auto& [from, history, counted, times] = of;
  const auto probe = json::parse(from->run.probe);
  const auto told = json::parse(to_json(counted));
  const auto started =
      history.runs.empty() ? json::value() : json::value(timestamp(history.runs.front().started_unix_ms));
  std::vector<stored_limits> limits;
  for (const auto& one : history.runs) limits.push_back({one.started_unix_ms, one.limits});
  const auto& spent = scored.spent;
  return json::object{
      {"folder", folder_of(from->path)},
      {"model", from->setup.labels.model_name},
      {"task", from->setup.task},
      {"shard", text_or_null(from->setup.shard)},
      {"started", started},
      {"backend",
       only(probe ? *probe : json::value(), {"selector", "dialect", "model", "slots", "context_per_slot"})},
      {"identity", identity_of(from->run)},
      {"setup", setup_json(from->setup)},
      {"wall_s", scored.wall_s > 0 ? json::value(scored.wall_s) : json::value()},
      {"spent_usd", spent ? json::value(in_usd(spent->least)) : json::value()},
      {"spent_usd_at_most", spent && spent->most ? json::value(in_usd(*spent->most)) : json::value()},
      {"scored", scored.count(item_state::scored)},
      {"unscored", scored.count(item_state::unscored)},
      {"errors", scored.count(item_state::errored)},
      {"not_run", scored.count(item_state::not_run)},
      {"scores", only(*told, {"score", "score_bounds", "metrics", "macro"})},
      {"tokens", only(*told, {"prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"})},
      {"predicted_cached_tokens", member(member(*told, "prefix"), "predicted_cached_tokens")},
      {"answers", only(*told, {"answered", "cut_by_length", "empty_answers", "no_answers",
                               "unclosed_reasoning", "refused", "double_bos"})},
      {"latency", latency_json(times)},
      {"over_time", over_time_json(times, limits)},
      {"failures", failures_json(history, scored)}};
}

json::value report_comparison_json(const comparison& of) {
  json::array categories;
  for (const auto& one : of.categories) {
    categories.emplace_back(
        json::object{{"category", text_or_null(one.name)}, {"paired", to_json(one.paired)}});
  }
  return json::object{{"first", std::uint64_t{of.first}},
                      {"second", std::uint64_t{of.second}},
                      {"paired", to_json(of.paired)},
                      {"difference_bounds", json::array{of.difference_bounds.low, of.difference_bounds.high}},
                      {"categories", std::move(categories)},
                      {"changed", std::uint64_t{of.changed.size()}},
                      {"missing", std::uint64_t{of.missing.size()}}};
}

}  // namespace evalcore::run
