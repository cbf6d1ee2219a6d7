#include <evalcore/run/compat_gate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <evalcore/base/ascii.hpp>

#include "run/foundation_json.hpp"
#include "run/json_present.hpp"

namespace evalcore::run {
namespace {

error bad(const std::string& what, const std::string& why) {
  return fail(errc::invalid_argument, stage::config, what + " " + why);
}

/// Absent members stay as they are.
bool read_text(const json::value& root, std::string_view name, std::string& into) {
  const auto* found = present(root, name);
  if (found == nullptr) return true;
  const auto* text = found->if_string();
  if (text != nullptr) into = *text;
  return text != nullptr;
}

bool read_number(const json::value& root, std::string_view name, std::optional<double>& into) {
  const auto* found = present(root, name);
  if (found == nullptr) return true;
  double storage = 0;
  const auto* number = found->as_double(storage);
  if (number != nullptr) into = *number;
  return number != nullptr;
}

/// Of 64 bits with a sign, also where it is written as 8.0 or 1e3.
std::optional<std::int64_t> whole_number(const json::value& of) {
  if (const auto* exact = of.if_int()) return *exact;
  const auto* number = of.if_double();
  if (number == nullptr || *number != std::floor(*number) || *number < -0x1p63 || *number >= 0x1p63)
    return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// JSON has no other numbers.
bool finite(const gated_metric& of) {
  const auto& stats = of.candidate.stats;
  return std::isfinite(of.candidate.score) && std::isfinite(of.delta_pp.value_or(0)) &&
         (!stats || (std::isfinite(stats->ci95_low) && std::isfinite(stats->ci95_high)));
}

result<gate_suite> suite_from(const json::value& root, const std::string& what) {
  gate_suite out;
  bool good = read_text(root, "name", out.name) && !out.name.empty();
  out.task = out.name;
  good = good && read_text(root, "task", out.task) && read_number(root, "threshold", out.threshold);
  if (const auto* command = present(root, "command")) {
    const auto* words = command->if_array();
    good = good && words != nullptr;
    for (std::size_t i = 0; good && i < words->size(); ++i) {
      const auto* word = (*words)[i].if_string();
      good = word != nullptr;
      if (good) out.command.push_back(*word);
    }
  }
  if (good) return out;
  return bad(what, "has a suite that is not {name, task?, threshold?, command?: [words]}");
}

json::value to_json(const pass_stats& of) {
  json::array trials;
  for (const double one : of.trial_scores) trials.emplace_back(one);
  return json::object{{"ci95High", of.ci95_high},
                      {"ci95Low", of.ci95_low},
                      {"mean", of.mean},
                      {"n", std::uint64_t{of.trial_scores.size()}},
                      {"stderr", of.standard_error},
                      {"stdev", of.stdev},
                      {"trialScores", std::move(trials)}};
}

json::value to_json(const gated_metric& of) {
  json::object out{{"candidateScore", of.candidate.score},
                   {"direction", of.lower_is_better ? "lowerIsBetter" : "higherIsBetter"},
                   {"metric", of.candidate.metric},
                   {"name", of.suite},
                   {"task", of.candidate.task},
                   {"thresholdPP", of.threshold_pp},
                   {"verdict", of.verdict()}};
  if (of.baseline_score) out.emplace_back("baselineScore", *of.baseline_score);
  if (of.candidate.stats) out.emplace_back("candidateStats", to_json(*of.candidate.stats));
  if (of.delta_pp) out.emplace_back("deltaPP", *of.delta_pp);
  if (of.candidate.subtask) out.emplace_back("subtask", *of.candidate.subtask);
  return out;
}

}  // namespace

bool lower_is_better(std::string_view metric) {
  static constexpr std::array<std::string_view, 14> words{
      "ppl",    "perplexity", "loss",    "nll",  "latency_ms", "latency", "wall_seconds",
      "rss_mb", "rss",        "ttft_ms", "ttft", "error_rate", "error",   "wer"};
  std::string lowered;
  for (const char c : metric) lowered += ascii::lower(c);
  return std::ranges::any_of(words, [&](auto word) { return lowered.find(word) != std::string::npos; });
}

result<gate_spec> read_gate_spec(std::string_view text, const std::string& what, bool project) {
  const auto root = json::parse(text);
  if (!root) return bad(what, "is not JSON: " + root.error().message);
  const auto* block = project ? present(*root, "eval") : &*root;
  if (block == nullptr) return bad(what, "has no `eval`");
  if (block->if_object() == nullptr) return bad(what, "is not a JSON object");
  gate_spec out;
  const auto* suites = present(*block, "suites");
  if (!read_text(*block, "baseline", out.baseline) || out.baseline.empty())
    return bad(what, "has no baseline that is the path of a file");
  std::optional<double> threshold;
  if (!read_number(*block, "default_threshold", threshold) ||
      !read_number(*block, "defaultThreshold", threshold))
    return bad(what, "has a default_threshold that is no number");
  out.default_threshold = threshold.value_or(out.default_threshold);
  if (suites == nullptr || suites->if_array() == nullptr) return bad(what, "has no list of suites");
  for (const auto& one : *suites->if_array()) {
    auto read = suite_from(one, what);
    if (!read) return std::move(read).error();
    out.suites.push_back(*std::move(read));
  }
  return out;
}

result<json::value> read_budget(std::string_view text, const std::string& what) {
  const auto root = json::parse(text);
  if (!root) return bad(what, "is not JSON: " + root.error().message);
  if (root->if_object() == nullptr) return bad(what, "is not a JSON object");
  const auto* patches = present(*root, "infra_patches");
  const auto* list = patches != nullptr ? patches->if_array() : nullptr;
  const bool texts = list != nullptr && std::ranges::all_of(*list, [](const json::value& one) {
                       return one.if_string() != nullptr;
                     });
  if (!texts) return bad(what, "has no infra_patches that are a list of texts");
  json::object out{{"infra_patches", *patches}};
  for (const std::string_view name : {"max_steps", "sampling_seed", "sandbox_ram_mb"}) {
    const auto* held = present(*root, name);
    if (held == nullptr) continue;
    const auto number = whole_number(*held);
    if (!number) return bad(what, "has a " + std::string(name) + " that is no whole number of 64 bits");
    out.emplace_back(name, *number);
  }
  for (const std::string_view name : {"sandbox_cpus", "temperature", "top_p"}) {
    std::optional<double> number;
    if (!read_number(*root, name, number))
      return bad(what, "has a " + std::string(name) + " that is no number");
    if (number) out.emplace_back(name, *number);
  }
  return json::value(std::move(out));
}

std::uint64_t compat_result::failed() const noexcept {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(metrics, [](const gated_metric& one) { return one.failed(); }));
}

std::uint64_t compat_result::missing() const noexcept {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(metrics, [](const gated_metric& one) { return !one.baseline_score; }));
}

result<compat_result> compat_gate(const gate_spec& spec, const std::vector<gate_row>& candidate,
                                  const std::vector<gate_row>& baseline) {
  std::map<std::string, double> before;
  for (const auto& one : baseline) before.insert_or_assign(one.key(), one.score);
  auto sorted = candidate;
  std::ranges::stable_sort(sorted, {}, &gate_row::key);
  compat_result out;
  for (auto& one : sorted) {
    gated_metric gated;
    gated.suite = one.task;
    gated.threshold_pp = spec.default_threshold;
    bool declared = false;  // Of suites with one task the first gives the name, the last the threshold.
    for (const auto& suite : spec.suites) {
      if (suite.task != one.task) continue;
      if (!declared) gated.suite = suite.name;
      declared = true;
      gated.threshold_pp = suite.threshold.value_or(spec.default_threshold);
    }
    if (!declared && !spec.suites.empty()) continue;
    gated.lower_is_better = lower_is_better(one.metric);
    if (const auto found = before.find(one.key()); found != before.end()) {
      gated.baseline_score = found->second;
      const double gain = one.score - found->second;
      gated.delta_pp = 100 * (gated.lower_is_better ? -gain : gain);
    }
    gated.candidate = std::move(one);
    if (!finite(gated)) {
      const auto& row = gated.candidate;
      return bad("task " + row.task + ", metric " + row.metric,
                 "has scores that are too large to be averaged or compared");
    }
    out.metrics.push_back(std::move(gated));
  }
  return out;
}

std::string to_text(const compat_result& of) {
  json::object protocol{{"passes", of.passes}};
  if (of.budget) protocol.emplace_back("budget", *of.budget);
  json::array metrics;
  for (const auto& one : of.metrics) metrics.push_back(to_json(one));
  return to_foundation_text(json::object{{"failedCount", of.failed()},
                                         {"missingCount", of.missing()},
                                         {"passed", of.failed() == 0},
                                         {"protocol", std::move(protocol)},
                                         {"suites", std::move(metrics)}});
}

}  // namespace evalcore::run
