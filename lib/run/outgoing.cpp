#include "run/outgoing.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/prefix/twice.hpp>
#include <evalcore/run/planning.hpp>

namespace evalcore::run {
namespace {

std::string described(const prefix::plan& of) {
  return json::to_text(json::object{
      {"unit", of.exact ? "tokens" : "bytes"},
      {"groups", std::uint64_t{of.groups.size()}},
      {"invariant", std::uint64_t{of.invariant_units}},
      {"total", of.total_units},
  });
}

/// Both ascending.
std::vector<std::uint32_t> united(const std::vector<std::uint32_t>& one,
                                  const std::vector<std::uint32_t>& other) {
  std::vector<std::uint32_t> out;
  out.reserve(one.size());
  std::ranges::set_union(one, other, std::back_inserter(out));
  return out;
}

}  // namespace

result<std::unique_ptr<outgoing>> outgoing::plan(run_state& of, const std::vector<std::uint32_t>& pending,
                                                 const std::vector<std::uint32_t>& seconds, net::loop& owner,
                                                 const std::vector<backend::backend*>& endpoints,
                                                 const pool::options& how, const std::stop_token& stop) {
  auto places = united(pending, seconds);
  if (places.empty()) return std::unique_ptr<outgoing>();
  const bool suite_order = of.how.suite_order;
  if (!suite_order) deal(of.from, places);
  auto& backend = *endpoints.front();
  auto order = plan_items(of.from, places, of.request, {.suite_order = suite_order, .dealt = !suite_order},
                          owner, backend, pool::patient(how.retry, of.watch.note), stop);
  if (!order) return std::move(order).error();
  of.told.plan_exact = order->exact;
  of.told.prefix_groups = order->groups.size();
  of.told.invariant_prefix = order->invariant_units;
  auto cache = cache_model_of(backend, of.request.use_prompt_cache, of.told.concurrency);
  if (!of.told.adaptive) cache.in_flight = of.told.concurrency * static_cast<std::uint32_t>(endpoints.size());
  if (endpoints.size() > 1) cache.slots.reset();  // Which of them a request meets is not known here.

  std::unique_ptr<outgoing> out(new outgoing());
  out->plan_json_ = described(*order);
  out->add_seconds(*order, std::move(places), pending, seconds);
  out->planned_ = std::make_unique<planned_source>(of.from, out->positions_, of.request, *std::move(order),
                                                   cache, of.told.backend.context_per_slot,
                                                   of.told.backend.cache && of.told.backend.cache->keeps);
  if (of.told.cost) {
    const auto& spent = of.told.cost->spent;
    out->budgeted_ = std::make_unique<budgeted_source>(*out->planned_, out->positions_.size(), *of.how.price,
                                                       of.told.plan_exact, spent.most.value_or(spent.least),
                                                       of.how.max_cost);
  }
  return out;
}

void outgoing::add_seconds(prefix::plan& order, std::vector<std::uint32_t> places,
                           const std::vector<std::uint32_t>& pending,
                           const std::vector<std::uint32_t>& seconds) {
  positions_ = std::move(places);
  second_.assign(positions_.size(), false);
  if (seconds.empty()) return;
  std::vector<std::uint32_t> both;
  for (std::uint32_t at = 0; at < positions_.size(); ++at) {
    second_[at] = !std::ranges::binary_search(pending, positions_[at]);
    if (!second_[at] && std::ranges::binary_search(seconds, positions_[at])) both.push_back(at);
  }
  auto made = prefix::send_twice(order, both);
  std::vector<std::uint32_t> sent;
  for (std::size_t id = 0; id < made.of.size(); ++id) {
    sent.push_back(positions_[made.of[id]]);
    made.second[id] = made.second[id] || second_[made.of[id]];
  }
  positions_ = std::move(sent);
  second_ = std::move(made.second);
  order = std::move(made.order);
}

}  // namespace evalcore::run
