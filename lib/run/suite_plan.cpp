#include <evalcore/run/suite_plan.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <evalcore/run/planning.hpp>

namespace evalcore::run {
namespace {

json::value usd(const std::optional<pico_usd>& amount) {
  return amount ? json::value(in_usd(*amount)) : json::value();
}

json::value cost_as_json(const std::optional<planned_cost>& of) {
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

/// The bound on the length of an item's answer; nothing where there is none.
std::optional<std::uint32_t> length_of(const chat::request& item, const request_options& how) {
  if (!item.choices.empty()) return 0;  // Nothing is generated.
  return item.params.max_tokens ? item.params.max_tokens : how.defaults.max_tokens;
}

}  // namespace

std::vector<std::uint64_t> group_units(const prefix::plan& plan) {
  std::vector<std::uint64_t> units(plan.groups.size());
  for (std::uint32_t item = 0; item < plan.lengths.size(); ++item) {
    units[plan.group_of[item]] += plan.lengths[item];
  }
  return units;
}

std::uint32_t longest_prompt(const prefix::plan& plan) {
  return plan.lengths.empty() ? 0 : std::ranges::max(plan.lengths);
}

result<suite_plan> plan_suite(const suite& from, const suite_plan_options& how,
                              const planning_backend* with) {
  std::vector<std::uint32_t> indices(std::min(from.size(), how.limit.value_or(from.size())));
  std::iota(indices.begin(), indices.end(), std::uint32_t{0});
  if (!how.suite_order) deal(from, indices);
  const prefix::options order{.suite_order = how.suite_order, .dealt = !how.suite_order};

  suite_plan of;
  auto request = how.request;
  auto model = how.model;
  auto in_flight = how.max_in_flight;
  prefix::cache_model cache;
  cache.enabled = request.use_prompt_cache;
  auto made = [&]() -> result<prefix::plan> {
    if (with == nullptr) return plan_items(from, indices, request, order);
    auto tools =
        choose_tools_mode(request.tools, from, with->owner, with->to, with->note, with->again, with->stop);
    if (!tools) return std::move(tools).error();
    request.tools = *tools;
    cache = cache_model_of(with->to, request.use_prompt_cache, in_flight);
    of.slots = with->to.about().slots;
    model = with->to.about().model;
    if (of.slots) in_flight = std::min(in_flight, *of.slots);
    return plan_items(from, indices, request, order, with->owner, with->to, with->again, with->stop);
  }();
  if (!made) return std::move(made).error();

  of.plan = *std::move(made);
  of.prediction = prefix::simulate(of.plan, cache, in_flight);
  of.tools = request.tools == tools_mode::text ? "text" : "native";
  std::vector<std::optional<std::uint32_t>> lengths;
  for (const auto index : indices) {
    auto one = from.get(index);
    if (!one) return std::move(one).error();
    lengths.push_back(length_of(one->request, request));
    of.ids.push_back(std::move(one->id));
  }
  if (how.prices != nullptr) {
    const auto price = how.prices->find(model);
    if (!price) return price.error();
    of.cost = cost_of(of.plan, of.prediction, lengths, how.expected_output, *price);
  }
  return of;
}

json::value to_json(const suite_plan& of, const suite& from) {
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
  return json::object{
      {"suite", from.path()},
      {"items", std::uint64_t{of.ids.size()}},
      {"unit", of.plan.exact ? "tokens" : "bytes"},
      {"tools", of.tools},
      {"slots", of.slots ? json::value(std::uint64_t{*of.slots}) : json::value()},
      {of.plan.exact ? "prompt_tokens" : "prompt_bytes", of.plan.total_units},
      {of.plan.exact ? "longest_prompt_tokens" : "longest_prompt_bytes",
       std::uint64_t{longest_prompt(of.plan)}},
      {"invariant_prefix", std::uint64_t{of.plan.invariant_units}},
      {of.plan.exact ? "predicted_cached_tokens" : "predicted_cached_bytes", of.prediction.total_cached},
      {"copies_between_slots", std::uint64_t{of.prediction.shares}},
      {"cost", cost_as_json(of.cost)},
      {"groups", std::move(groups)},
      {"order", std::move(order)},
  };
}

}  // namespace evalcore::run
