#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/hash.hpp>
#include <evalcore/chat/call_text.hpp>
#include <evalcore/run/ids.hpp>

#include "run/export_formats.hpp"

namespace evalcore::run {
namespace {

std::string hash_of(std::string_view text) { return sha256().raw(text).hex(); }

/// As Python's json.dumps(…, indent=2, ensure_ascii=False), of which lm-eval makes its hash of a document.
void append_indented(std::string& out, const json::value& of, std::size_t depth) {
  const auto line = [&](std::size_t at) { out.append("\n").append(2 * at, ' '); };
  if (const auto* members = of.if_object(); members != nullptr && !members->empty()) {
    for (std::size_t i = 0; i < members->size(); ++i) {
      out += i == 0 ? "{" : ",";
      line(depth + 1);
      json::append_quoted(out, (*members)[i].first);
      out += ": ";
      append_indented(out, (*members)[i].second, depth + 1);
    }
    line(depth);
    out += "}";
  } else if (const auto* list = of.if_array(); list != nullptr && !list->empty()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      out += i == 0 ? "[" : ",";
      line(depth + 1);
      append_indented(out, (*list)[i], depth + 1);
    }
    line(depth);
    out += "]";
  } else {
    out += json::to_text(of);
  }
}

/// str() of it.
std::string python_text(const json::value& of) {
  const auto* text = of.if_string();
  return text != nullptr ? *text : chat::repr(chat::from_json(of));
}

std::string python_number(double number) {
  std::string out;
  json::append_number(out, number);
  return out;
}

json::value settings(const chat::parameters& params) {
  json::object out;
  json::array stops;
  for (const auto& one : params.stop) stops.emplace_back(one);
  out.emplace_back("until", std::move(stops));
  if (params.max_tokens) out.emplace_back("max_gen_toks", std::int64_t{*params.max_tokens});
  if (params.temperature) {
    out.emplace_back("temperature", *params.temperature);
    out.emplace_back("do_sample", *params.temperature > 0);
  }
  if (params.top_p) out.emplace_back("top_p", *params.top_p);
  if (params.top_k) out.emplace_back("top_k", std::int64_t{*params.top_k});
  if (params.seed) out.emplace_back("seed", *params.seed);
  return out;
}

struct asked {
  json::object arguments;
  json::array replies;   ///< For each request a list of one.
  json::array filtered;  ///< For each request what is in it.
};

asked generation(const exported_item& of, const std::string& prompt) {
  const auto text = of.reply ? answer_text(*of.reply) : std::string();
  return {{{"gen_args_0", json::object{{"arg_0", prompt}, {"arg_1", settings(of.request.params)}}}},
          {json::array{text}},
          {text}};
}

/// As lm-eval writes its pairs of a sum and whether it is the likeliest: as text.
json::array likelihood(const exported_item& of, std::size_t choice) {
  if (!of.reply || choice >= of.reply->choices.size()) return {};
  const auto& found = of.reply->choices[choice];
  return {python_number(found.sum_logprob), !found.is_greedy ? "None" : *found.is_greedy ? "True" : "False"};
}

asked choices(const exported_item& of, const std::string& prompt) {
  asked out;
  for (std::size_t i = 0; i < of.request.choices.size(); ++i) {
    out.arguments.emplace_back("gen_args_" + std::to_string(i),
                               json::object{{"arg_0", prompt}, {"arg_1", of.request.choices[i]}});
    out.replies.emplace_back(json::array{likelihood(of, i)});
    out.filtered.emplace_back(likelihood(of, i));
  }
  return out;
}

/// Of a metric over all categories.
struct whole_metric {
  std::string name;
  metric_summary sums;
};

std::vector<whole_metric> whole_metrics(const summary& of) {
  std::vector<whole_metric> out;
  for (const auto& one : of.metrics) {
    auto found = std::ranges::find(out, one.metric, &whole_metric::name);
    if (found == out.end()) found = out.insert(out.end(), {one.metric, {}});
    found->sums.items += one.items;
    found->sums.scored += one.scored;
    found->sums.total += one.total;
    found->sums.squares += one.squares;
    found->sums.weight += one.weight;
    found->sums.comes_to = one.comes_to;
  }
  return out;
}

/// A logprob for words or bytes comes with their number, as the functions that sum them up want it.
json::value lm_eval_value(const score::further_metric& metric, const score::further_value& held) {
  const bool of_parts = metric.comes_to != score::figure::mean && metric.comes_to != score::figure::loss &&
                        metric.name != "perplexity";
  return of_parts ? json::value(json::array{held.value, held.weight}) : json::value(held.value);
}

}  // namespace

std::string lm_eval_folder(const std::string& model) {
  constexpr std::string_view odd = "\"<>:/|\\?*[]";
  std::string out;
  bool replaced = false;
  for (const char c : model) {
    const bool refused = odd.find(c) != std::string_view::npos;
    if (!refused) out += c;
    if (refused && !replaced) out += "__";
    replaced = refused;
  }
  return out;
}

std::string lm_eval_time(std::int64_t unix_ms) {
  auto out = timestamp(unix_ms);
  out.pop_back();
  std::ranges::replace(out, ':', '-');
  const auto fraction = std::to_string(1000 + unix_ms % 1000);
  return out + "." + fraction.substr(1) + "000";
}

std::string lm_eval_sample(const exported_item& one) {
  const auto prompt = prompt_text(one.request);
  const auto target = python_text(one.one.target);
  auto what = one.request.choices.empty() ? generation(one, prompt) : choices(one, prompt);
  std::string document;
  append_indented(document, one.line, 0);
  const auto further = one.scorer->further_metrics();
  json::array names{one.scorer->metric()};
  for (const auto& metric : further) names.emplace_back(metric.name);
  json::object out{{"doc_id", static_cast<std::int64_t>(one.position)},
                   {"doc", one.line},
                   {"target", target},
                   {"arguments", std::move(what.arguments)},
                   {"resps", std::move(what.replies)},
                   {"filtered_resps", std::move(what.filtered)},
                   {"filter", "none"},
                   {"metrics", std::move(names)},
                   {"doc_hash", hash_of(document)},
                   {"prompt_hash", hash_of(prompt)},
                   {"target_hash", hash_of(target)}};
  // What is missing counts as wrong, as it does in evalcore's own score; `state` tells it from an answer.
  out.emplace_back(std::string(one.scorer->metric()), one.score.value);
  for (const auto& metric : further) {
    json::value value = metric.comes_to == score::figure::mean ? json::value(0.0) : json::value();
    for (const auto& held : one.verdict.further) {
      if (held.metric == metric.name) value = lm_eval_value(metric, held);
    }
    out.emplace_back(std::string(metric.name), std::move(value));
  }
  out.emplace_back("evalcore", json::object{{"id", one.one.id}, {"state", name(one.score.state)}});
  return json::to_text(out) + "\n";
}

std::string lm_eval_results(const exported_run& run) {
  const auto& task = run.what.task;
  const auto items = static_cast<std::int64_t>(run.what.items);
  json::object scores{{"alias", task}};
  json::object better;
  for (const auto& [metric, sums] : whole_metrics(run.what)) {
    const double score = sums.score();
    scores.emplace_back(metric + ",none", std::isfinite(score) ? json::value(score) : json::value("N/A"));
    const auto estimate = sums.estimate();
    const auto& error = estimate ? estimate->standard_error : std::nullopt;
    scores.emplace_back(metric + "_stderr,none", error ? json::value(*error) : json::value("N/A"));
    better.emplace_back(metric, sums.comes_to == score::figure::mean);
  }
  const auto of_task = [&](json::value what) { return json::object{{task, std::move(what)}}; };
  return json::to_text(json::object{
             {"results", of_task(std::move(scores))},
             {"group_subtasks", of_task(json::array())},
             {"configs", of_task(json::object{{"task", task}})},
             {"versions", of_task("N/A")},
             {"n-shot", of_task(0)},
             {"higher_is_better", of_task(std::move(better))},
             {"n-samples", of_task(json::object{{"original", items}, {"effective", items}})},
             {"config", json::object{{"model", "evalcore"},
                                     {"model_args", json::object{{"model", run.labels.model_name}}}}},
             {"date", static_cast<double>(run.started_unix_ms) / 1000},
             {"model_source", "evalcore"},
             {"model_name", run.labels.model_name},
             {"model_name_sanitized", lm_eval_folder(run.labels.model_name)},
             {"total_evaluation_time_seconds", python_number(run.what.wall_s)},
         }) +
         "\n";
}

}  // namespace evalcore::run
