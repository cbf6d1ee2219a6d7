#include "run/outgoing.hpp"

#include <algorithm>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/pool/patience.hpp>
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

}  // namespace

result<std::unique_ptr<outgoing>> outgoing::plan(run_state& of, std::vector<std::uint32_t> pending,
                                                 net::loop& owner,
                                                 const std::vector<backend::backend*>& endpoints,
                                                 const pool::options& how, const std::stop_token& stop) {
  if (pending.empty()) return std::unique_ptr<outgoing>();
  const bool suite_order = of.how.suite_order;
  if (!suite_order) deal(of.from, pending);
  auto& backend = *endpoints.front();
  auto order = plan_items(of.from, pending, of.request, {.suite_order = suite_order, .dealt = !suite_order},
                          owner, backend, pool::patient(how.retry, of.watch.note), stop);
  if (!order) return std::move(order).error();
  of.told.plan_exact = order->exact;
  of.told.prefix_groups = order->groups.size();
  of.told.invariant_prefix = order->invariant_units;
  auto cache = cache_model_of(backend, of.request.use_prompt_cache, of.told.concurrency);
  if (endpoints.size() > 1) cache.slots.reset();  // Which of them a request meets is not known here.

  std::unique_ptr<outgoing> out(new outgoing(std::move(pending)));
  out->plan_json_ = described(*order);
  out->planned_ = std::make_unique<planned_source>(of.from, out->positions_, of.request, *std::move(order),
                                                   cache, of.told.backend.context_per_slot);
  if (of.told.cost) {
    const auto& spent = of.told.cost->spent;
    out->budgeted_ = std::make_unique<budgeted_source>(*out->planned_, out->positions_.size(), *of.how.price,
                                                       of.told.plan_exact, spent.most.value_or(spent.least),
                                                       of.how.max_cost);
  }
  return out;
}

}  // namespace evalcore::run
