#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/prefix/prediction.hpp>
#include <evalcore/run/plan_cost.hpp>
#include <evalcore/run/planning.hpp>
#include <evalcore/run/suite.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "open_backend.hpp"
#include "price_option.hpp"
#include "printable.hpp"

namespace evalcore::cli {
namespace {

/// Without a backend nothing is known of its cache; one that finds any common prefix is assumed.
struct planned {
  prefix::plan plan;
  prefix::prediction prediction;
  std::string tools;
  std::optional<std::uint32_t> slots;
  std::vector<std::string> ids;  ///< As the items were dealt; the plan counts these.
  std::optional<run::planned_cost> cost;
};

/// Groups beyond this many are counted, not listed.
constexpr std::size_t groups_shown = 20;

std::vector<std::uint64_t> group_units(const prefix::plan& plan) {
  std::vector<std::uint64_t> units(plan.groups.size());
  for (std::uint32_t item = 0; item < plan.lengths.size(); ++item) {
    units[plan.group_of[item]] += plan.lengths[item];
  }
  return units;
}

/// What --context-per-slot must hold beside an answer.
std::uint32_t longest_of(const prefix::plan& plan) {
  return plan.lengths.empty() ? 0 : std::ranges::max(plan.lengths);
}

json::value usd(const std::optional<run::pico_usd>& amount) {
  return amount ? json::value(run::in_usd(*amount)) : json::value();
}

json::value cost_as_json(const std::optional<run::planned_cost>& of) {
  if (!of) return {};
  const auto total = of->total();
  return json::object{{"usd", usd(total.least)},
                      {"usd_at_most", usd(total.most)},
                      {"prompt_usd", usd(of->prompts)},
                      {"prompts_estimated", of->estimated},
                      {"output_usd", usd(of->answers.least)},
                      {"output_usd_at_most", usd(of->answers.most)},
                      {"items_without_bound", of->unbounded}};
}

void print_cost(const run::planned_cost& of) {
  std::printf("cost: %s; prompts %s%s, answers %s\n", run::usd_text(of.total()).c_str(),
              run::usd_text(of.prompts).c_str(), of.estimated ? " (estimated, four bytes a token)" : "",
              run::usd_text(of.answers).c_str());
  if (of.unbounded > 0) {
    std::printf(
        "%llu items have no max_tokens, so nothing bounds what they cost; --expected-output says how "
        "long an answer is\n",
        static_cast<unsigned long long>(of.unbounded));
  }
}

/// The bound on the length of each item's answer.
result<std::vector<std::optional<std::uint32_t>>> lengths_of(const run::suite& suite,
                                                             const std::vector<std::uint32_t>& indices,
                                                             const run::request_options& how) {
  std::vector<std::optional<std::uint32_t>> lengths;
  lengths.reserve(indices.size());
  for (const auto index : indices) {
    const auto one = suite.get(index);
    if (!one) return one.error();
    const auto& own = one->request.params.max_tokens;
    lengths.push_back(own ? own : how.defaults.max_tokens);
  }
  return lengths;
}

void print_json(const planned& of, const run::suite& suite) {
  const auto units = group_units(of.plan);
  json::array groups;
  for (std::size_t i = 0; i < of.plan.groups.size(); ++i) {
    const auto& group = of.plan.groups[i];
    groups.push_back(json::object{{"items", std::uint64_t{group.items}},
                                  {"prefix", std::uint64_t{group.prefix_units}},
                                  {"prompt", units[i]},
                                  {"predicted_cached", of.prediction.group_cached[i]},
                                  {"first_item", of.ids[group.first]}});
  }
  json::array order;
  for (std::uint32_t at = 0; at < of.ids.size(); ++at) {
    order.emplace_back(of.ids[of.plan.suite_order ? at : of.plan.order[at]]);
  }
  const json::value root = json::object{
      {"suite", suite.path()},
      {"items", std::uint64_t{of.ids.size()}},
      {"unit", of.plan.exact ? "tokens" : "bytes"},
      {"tools", of.tools},
      {"slots", of.slots ? json::value(std::uint64_t{*of.slots}) : json::value()},
      {of.plan.exact ? "prompt_tokens" : "prompt_bytes", of.plan.total_units},
      {of.plan.exact ? "longest_prompt_tokens" : "longest_prompt_bytes", std::uint64_t{longest_of(of.plan)}},
      {"invariant_prefix", std::uint64_t{of.plan.invariant_units}},
      {of.plan.exact ? "predicted_cached_tokens" : "predicted_cached_bytes", of.prediction.total_cached},
      {"copies_between_slots", std::uint64_t{of.prediction.shares}},
      {"cost", cost_as_json(of.cost)},
      {"groups", std::move(groups)},
      {"order", std::move(order)},
  };
  std::printf("%s\n", json::to_text(root).c_str());
}

void print_table(const planned& of) {
  const auto units = group_units(of.plan);
  const char* unit = of.plan.exact ? "tokens" : "bytes";
  std::printf(
      "%zu items, %llu %s of prompts (the longest %u), of which the first %u are common to all; tools: %s\n",
      of.ids.size(), static_cast<unsigned long long>(of.plan.total_units), unit, longest_of(of.plan),
      of.plan.invariant_units, of.tools.c_str());
  if (!of.plan.exact) {
    std::printf(
        "counted in bytes, an estimate: name a --backend that tokenizes to count what the model sees\n");
  }
  std::printf("%6s  %6s  %12s  %12s  %12s  %s\n", "group", "items", "prefix", "prompts", "cached",
              "first item");
  const auto shown = std::min(of.plan.groups.size(), groups_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& group = of.plan.groups[i];
    std::printf("%6zu  %6u  %12u  %12llu  %12llu  %s\n", i + 1, group.items, group.prefix_units,
                static_cast<unsigned long long>(units[i]),
                static_cast<unsigned long long>(of.prediction.group_cached[i]),
                printable(of.ids[group.first]).c_str());
  }
  if (shown < of.plan.groups.size()) std::printf("… and %zu more groups\n", of.plan.groups.size() - shown);
  if (of.prediction.shares > 0) {
    std::printf("copies between %u slots: %u\n", of.slots.value_or(0), of.prediction.shares);
  }
  std::printf("predicted cached: %llu of %llu %s (hit rate %.1f %%)\n",
              static_cast<unsigned long long>(of.prediction.total_cached),
              static_cast<unsigned long long>(of.plan.total_units), unit,
              of.plan.total_units == 0 ? 0.0
                                       : 100.0 * static_cast<double>(of.prediction.total_cached) /
                                             static_cast<double>(of.plan.total_units));
  if (of.cost) print_cost(*of.cost);
}

}  // namespace

result<int> plan_command(const plan_arguments& arguments, const std::stop_token& stop) {
  const auto& wanted = arguments.suite;
  const auto prices = open_prices(wanted.price);
  if (!prices) return prices.error();
  auto suite = run::suite::open(wanted.suite, wanted.answers);
  if (!suite) return std::move(suite).error();
  std::vector<std::uint32_t> indices(std::min(suite->size(), wanted.limit.value_or(suite->size())));
  if (auto checked = run::check_items(*suite, indices.size()); !checked) return std::move(checked).error();
  std::iota(indices.begin(), indices.end(), std::uint32_t{0});
  if (!wanted.suite_order) run::deal(*suite, indices);

  net::loop loop;
  std::unique_ptr<backend::backend> backend;
  run::request_options how = wanted.request;
  prefix::cache_model cache;
  cache.enabled = how.use_prompt_cache;
  auto model = arguments.backend.model;
  auto in_flight = wanted.pool.max_in_flight;
  std::optional<std::uint32_t> slots;
  const prefix::options order{.suite_order = wanted.suite_order, .dealt = !wanted.suite_order};
  auto made = [&]() -> result<prefix::plan> {
    if (arguments.backend.selector.empty()) return run::plan_items(*suite, indices, how, order);
    const auto note = [](const std::string& text) {
      std::fprintf(stderr, "evalcore: %s\n", printable(text).c_str());
    };
    const auto again = pool::patient(wanted.pool.retry, note);
    auto opened = open_backend(loop, sized_for(arguments.backend, wanted.pool, indices.size()), again, stop);
    if (!opened) return std::move(opened).error();
    backend = *std::move(opened);
    auto tools = run::choose_tools_mode(how.tools, *suite, loop, *backend, note, again, stop);
    if (!tools) return std::move(tools).error();
    how.tools = *tools;
    cache = run::cache_model_of(*backend, how.use_prompt_cache, in_flight);
    slots = backend->about().slots;
    model = backend->about().model;
    if (slots) in_flight = std::min(in_flight, *slots);
    return run::plan_items(*suite, indices, how, order, loop, *backend, again, stop);
  }();
  backend.reset();
  if (!made) return std::move(made).error();

  planned of;
  of.plan = *std::move(made);
  of.prediction = prefix::simulate(of.plan, cache, in_flight);
  of.tools = how.tools == run::tools_mode::text ? "text" : "native";
  of.slots = slots;
  for (const auto index : indices) {
    auto one = suite->get(index);
    if (!one) return std::move(one).error();
    of.ids.push_back(std::move(one->id));
  }
  if (*prices) {
    const auto price = (*prices)->find(model);
    if (!price) return price.error();
    const auto lengths = lengths_of(*suite, indices, how);
    if (!lengths) return lengths.error();
    of.cost = run::cost_of(of.plan, of.prediction, *lengths, arguments.expected_output, *price);
  }
  if (wanted.json) {
    print_json(of, *suite);
  } else {
    print_table(of);
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
