#include <evalcore/run/summary.hpp>

#include <cmath>
#include <cstdio>

#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>
#include <evalcore/base/version.hpp>
#include <evalcore/stats/rate.hpp>

#include "run/interval_json.hpp"
#include "run/limit_text.hpp"

namespace evalcore::run {
namespace {

json::value counts(const std::map<std::string, std::uint64_t>& of) {
  json::object members;
  for (const auto& [key, n] : of) members.emplace_back(key, n);
  return members;
}

json::value strings(const std::map<std::string, std::string>& of) {
  json::object members;
  for (const auto& [key, text] : of) members.emplace_back(key, text);
  return members;
}

json::value endpoints(const std::vector<pool::endpoint_figures>& of) {
  json::array all;
  for (const auto& one : of) {
    all.push_back(json::object{
        {"address", json::text_or_null(one.address)},
        {"sent", one.sent},
        {"answered", one.answered},
        {"failed", one.failed},
        {"completion_tokens", one.completion_tokens},
        {"ejections", one.ejections},
        {"limit", std::uint64_t{one.limit}},
        {"limit_history", limit_history(one.limit_history)},
    });
  }
  return all;
}

json::value answers(const backend::probe_report& of) {
  json::object members;
  for (const auto& one : of.findings) members.emplace_back(one.name, name(one.answer));
  return members;
}

json::value usd(const std::optional<pico_usd>& amount) {
  return amount ? json::value(in_usd(*amount)) : json::value();
}

json::value costs(const std::optional<cost_summary>& of) {
  const auto least = [](const auto& one) { return usd(one ? std::optional(one->least) : std::nullopt); };
  const auto most = [](const auto& one) { return usd(one ? one->most : std::nullopt); };
  const auto sent = of ? std::optional(of->sent) : std::nullopt;
  const auto spent = of ? std::optional(of->spent) : std::nullopt;
  json::object prices;
  if (of) {
    const auto& each = of->price;
    for (const auto& [name, amount] :
         {std::pair("input", each.input), std::pair("cached", each.cached),
          std::pair("cache_write", each.cache_write), std::pair("output", each.output),
          std::pair("reasoning", each.reasoning)}) {
      prices.emplace_back(name, static_cast<double>(amount) / 1e6);
    }
  }
  return json::object{{"usd", least(sent)},
                      {"usd_at_most", most(sent)},
                      {"spent_usd", least(spent)},
                      {"spent_usd_at_most", most(spent)},
                      {"max_usd", usd(of ? of->max : std::nullopt)},
                      {"usd_per_million_tokens", std::move(prices)}};
}

json::value noise(const std::optional<noise_floor>& of) {
  const auto count = [&](std::uint64_t noise_floor::* which) {
    return of ? json::value((*of).*which) : json::value();
  };
  const auto bounds = [&](std::uint64_t noise_floor::* which) {
    if (!of) return json::value(json::array{json::value(), json::value()});
    return range(stats::exact_bounds((*of).*which, of->pairs));
  };
  const auto rate = of && of->pairs > 0
                        ? std::optional(static_cast<double>(of->flips) / static_cast<double>(of->pairs))
                        : std::nullopt;
  const bool told = of && of->cache_differed;
  return json::object{
      {"items", count(&noise_floor::items)},
      {"pairs", count(&noise_floor::pairs)},
      {"changed", count(&noise_floor::changed)},
      {"changed_rate_bounds", bounds(&noise_floor::changed)},
      {"flips", count(&noise_floor::flips)},
      {"flip_rate", json::or_null(rate)},
      {"flip_rate_bounds", bounds(&noise_floor::flips)},
      {"difference_stderr", json::or_null(of ? of->difference_stderr() : std::nullopt)},
      {"difference_stderr_at_most", json::or_null(of ? of->difference_stderr_at_most() : std::nullopt)},
      {"cache_differed", json::or_null(of ? of->cache_differed : std::nullopt)},
      {"changed_where_cache_differed", told ? json::value(of->changed_where_cache_differed) : json::value()},
  };
}

json::value standard_error(const std::optional<stats::estimate>& of) {
  return json::or_null(of ? of->standard_error : std::nullopt);
}

json::value macro(const std::vector<macro_average>& of) {
  json::array all;
  for (const auto& one : of) {
    all.push_back(json::object{
        {"metric", one.metric},
        {"categories", one.categories},
        {"unevaluated", one.unevaluated},
        {"score", one.mean.value},
        {"stderr", standard_error(one.mean)},
        {"interval", range(one.interval())},
    });
  }
  return all;
}

/// Two blanks a level: for a file that a person opens.
void indent(std::string& out, const json::value& root, std::size_t level) {  // NOLINT(misc-no-recursion)
  const auto line = [&](std::size_t depth) { out += '\n' + std::string(2 * depth, ' '); };
  const auto* members = root.if_object();
  const auto* elements = root.if_array();
  if (members != nullptr && !members->empty()) {
    out += '{';
    for (std::size_t i = 0; i < members->size(); ++i) {
      if (i > 0) out += ',';
      line(level + 1);
      json::append_quoted(out, (*members)[i].first);
      out += ": ";
      indent(out, (*members)[i].second, level + 1);
    }
    line(level);
    out += '}';
  } else if (elements != nullptr && !elements->empty()) {
    out += '[';
    for (std::size_t i = 0; i < elements->size(); ++i) {
      if (i > 0) out += ',';
      line(level + 1);
      indent(out, (*elements)[i], level + 1);
    }
    line(level);
    out += ']';
  } else {
    out += json::to_text(root);
  }
}

json::value finite(double score) { return std::isfinite(score) ? json::value(score) : json::value(); }

std::optional<double> over_all(const summary& of, bool upper) {
  double total = 0;
  std::uint64_t items = 0;
  for (const auto& metric : of.metrics) {
    if (metric.further) continue;
    total += metric.total + (upper ? static_cast<double>(metric.items - metric.scored) : 0.0);
    items += metric.items;
  }
  if (items == 0) return std::nullopt;
  return total / static_cast<double>(items);
}

}  // namespace

std::optional<double> summary::score() const noexcept { return over_all(*this, false); }
std::optional<double> summary::score_upper_bound() const noexcept { return over_all(*this, true); }

std::string to_json(const summary& of) {
  json::array metrics;
  for (const auto& one : of.metrics) {
    const auto interval = one.interval();
    metrics.push_back(json::object{
        {"category", json::text_or_null(one.category)},
        {"metric", one.metric},
        {"items", one.items},
        {"scored", one.scored},
        {"score", one.scored > 0 ? finite(one.score()) : json::value()},
        {"score_bounds", json::array{finite(one.score()), one.upper_bound()}},
        {"stderr", standard_error(one.scored > 0 ? one.estimate() : std::nullopt)},
        {"interval", interval ? range(interval->bounds) : json::value()},
        {"interval_kind", interval ? json::value(interval->kind) : json::value()},
    });
  }
  const double done = static_cast<double>(of.answered - of.reused);
  const json::value root = json::object{
      {"evalcore_version", EVALCORE_VERSION},
      {"run_id", of.run_id},
      {"suite", of.suite_path},
      {"suite_hash", of.suite_hash},
      {"task", of.task},
      {"shard", json::text_or_null(of.shard)},
      {"backend", json::object{{"selector", of.backend.selector},
                               {"dialect", of.backend.dialect},
                               {"model", of.backend.model},
                               {"slots", json::or_null(of.backend.slots)},
                               {"context_per_slot", json::or_null(of.backend.context_per_slot)},
                               {"identity", strings(of.backend.identity)}}},
      {"probe", json::object{{"depth", name(of.probe.depth)}, {"findings", answers(of.probe)}}},
      {"order", of.order},
      {"tools", of.tools},
      {"concurrency", std::uint64_t{of.concurrency}},
      {"concurrency_adaptive", of.adaptive},
      {"items", of.items},
      {"reused", of.reused},
      {"reused_from_cache", of.stood_in},
      {"sent", of.sent},
      {"retried", of.retried},
      {"retries_by_class", counts(of.retries_by_class)},
      {"answered", of.answered},
      {"errors", of.errors},
      {"errors_by_class", counts(of.errors_by_class)},
      {"unscored", of.unscored},
      {"not_run", of.not_run},
      {"not_saved", of.not_saved},
      {"interrupted", of.interrupted},
      {"stopped", json::text_or_null(of.stopped)},
      {"possibly_paid_twice", of.possibly_paid_twice},
      {"score", json::or_null(of.score())},
      {"score_bounds", json::array{json::or_null(of.score()), json::or_null(of.score_upper_bound())}},
      {"metrics", metrics},
      {"macro", macro(of.macro_averages())},
      {"wall_s", of.wall_s},
      {"processor_s", json::or_null(of.processor_s)},
      {"peak_memory_gb",
       of.peak_memory ? json::value(static_cast<double>(*of.peak_memory) / 1e9) : json::value()},
      {"items_per_s", of.wall_s > 0 && done > 0 ? json::value(done / of.wall_s) : json::value()},
      {"mean_ttft_s", json::or_null(of.mean_ttft_s)},
      {"prompt_tokens", json::or_null(of.prompt_tokens)},
      {"cached_tokens", json::or_null(of.cached_tokens)},
      {"fed_tokens", of.prompt_tokens && of.cached_tokens ? json::value(*of.prompt_tokens - *of.cached_tokens)
                                                          : json::value()},
      {"cache_write_tokens", json::or_null(of.cache_write_tokens)},
      {"completion_tokens", json::or_null(of.completion_tokens)},
      {"reasoning_tokens", json::or_null(of.reasoning_tokens)},
      {"cost", costs(of.cost)},
      {"noise_floor", noise(of.noise_floor)},
      {"prefix", json::object{{"unit", of.plan_exact ? "tokens" : "bytes"},
                              {"groups", of.prefix_groups},
                              {"invariant", of.invariant_prefix},
                              {"predicted_cached_tokens", json::or_null(of.predicted_cached_tokens)}}},
      {"endpoints", endpoints(of.endpoints)},
      {"cut_by_length", of.cut_by_length},
      {"empty_answers", of.empty_answers},
      {"no_answers", of.no_answers},
      {"unclosed_reasoning", of.unclosed_reasoning},
      {"refused", of.refused},
      {"double_bos", of.double_bos},
      {"unknown_finish", of.unknown_finish},
      {"dropped", counts(of.dropped)},
      {"unbelievable_usage", of.unbelievable_usage},
  };
  std::string out;
  indent(out, root, 0);
  out += '\n';
  return out;
}

std::string prefix_line(const summary& of) {
  std::string line = "prefix cached: ";
  line += of.cached_tokens ? std::to_string(*of.cached_tokens) + " tokens" : "unknown";
  if (of.predicted_cached_tokens) line += " of " + std::to_string(*of.predicted_cached_tokens) + " predicted";
  if (of.cached_tokens && of.prompt_tokens && *of.prompt_tokens > 0) {
    const auto tenths =
        std::lround(1000.0 * static_cast<double>(*of.cached_tokens) / static_cast<double>(*of.prompt_tokens));
    line += " (hit rate " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %)";
  }
  return line;
}

std::string health_line(const summary& of) {
  std::string line;
  const auto tell = [&](std::string_view what, std::uint64_t count) {
    if (count == 0) return;
    line.append(line.empty() ? "answers " : ", ").append(what).append(": ").append(std::to_string(count));
  };
  tell("cut by max_tokens", of.cut_by_length);
  tell("empty", of.empty_answers);
  tell("with nothing to compare", of.no_answers);
  tell("that ended in their reasoning", of.unclosed_reasoning);
  tell("refused", of.refused);
  if (of.double_bos > 0) {
    line.append(line.empty() ? "" : "; ").append("items whose prompt has a BOS token too many: ");
    line += std::to_string(of.double_bos);
  }
  return line;
}

std::string cost_line(const summary& of) {
  auto line = "cost: " + usd_text(of.cost->sent);
  if (of.cost->spent != of.cost->sent) {
    line += " (" + usd_text(of.cost->spent) + " with earlier runs of this suite and backend in the store)";
  }
  return line;
}

std::vector<row> rows_of(const summary& of, const row_labels& labels) {
  std::vector<row> rows;
  for (const auto& metric : of.metrics) {
    if (!std::isfinite(metric.score())) continue;
    row one;
    one.baseline = labels.baseline;
    one.harness_version = "evalcore " EVALCORE_VERSION;
    one.metric = metric.metric;
    one.model_name = labels.model_name;
    one.model_path = labels.model_path;
    one.model_step = labels.model_step;
    one.n_examples = metric.items;
    one.run_id = of.run_id;
    one.score = metric.score();
    if (!metric.category.empty()) one.subtask = metric.category;
    one.task = of.task;
    one.timestamp = labels.timestamp;
    one.wall_seconds = of.wall_s;
    rows.push_back(std::move(one));
  }
  return rows;
}

}  // namespace evalcore::run
