#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace evalcore::bench {

namespace {

constexpr std::size_t warm_up = 60;     // Seconds.
constexpr std::size_t measured = 300;   // End of the window.
constexpr double suite_seconds = 330;   // That the suite takes with all slots busy.
constexpr double patience = 800;        // Seconds after which a run is given up.
constexpr double tokens_a_second = 50;  // Of a slot.
constexpr std::size_t step_at = 90;
constexpr std::size_t step_end = 180;
constexpr double good_enough = 0.95;
constexpr std::size_t different_requests = 50'000;

std::set<std::uint32_t> fixed_limits(std::uint32_t slots) {
  std::set<std::uint32_t> limits;
  for (const double part : {0.6, 0.75, 0.85, 0.95, 1.0, 1.25, 1.6}) {
    limits.insert(static_cast<std::uint32_t>(std::max(1L, std::lround(part * slots))));
  }
  return limits;
}

share over_seeds(const std::vector<double>& of_each, bool high_is_bad) {
  share all;
  for (const double one : of_each) all.mean += one / static_cast<double>(of_each.size());
  all.worst = high_is_bad ? *std::max_element(of_each.begin(), of_each.end())
                          : *std::min_element(of_each.begin(), of_each.end());
  return all;
}

double total(const std::vector<client_outcome>& runs, std::size_t from, std::size_t to) {
  double sum = 0;
  for (const auto& one : runs) sum += one.throughput(from, to);
  return sum;
}

}  // namespace

std::vector<limit_case> limit_cases() {
  struct variant {
    overload kind;
    const char* name;
  };
  std::vector<limit_case> cases;
  for (const auto& [kind, name] :
       {variant{overload::queues, "queues"}, variant{overload::rejects, "rejects"},
        variant{overload::crashes, "crashes"}, variant{overload::fills_kv, "fills KV"},
        variant{overload::has_tenants, "tenants"}}) {
    for (const std::uint32_t slots : {4U, 16U, 64U, 200U, 7U, 37U, 120U}) {
      cases.push_back({.name = std::string(name) + " " + std::to_string(slots),
                       .facts = {.kind = kind, .slots = slots, .slots_after_step = slots},
                       .unseen = slots == 7 || slots == 37 || slots == 120});
    }
    cases.push_back({.name = std::string(name) + " 64->16",
                     .facts = {.kind = kind, .slots = 64, .slots_after_step = 16, .step_at = step_at}});
  }
  return cases;
}

limit_result measure_limit(const limit_case& one, std::uint64_t seeds) {
  const bool steps = one.steps();
  std::vector<std::vector<request_size>> sizes;
  std::vector<client_plan> plans;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sizes.push_back(mixed_requests(different_requests, seed));
    client_plan plan{.requests = std::numeric_limits<std::uint64_t>::max(), .horizon = step_end};
    if (!steps) {
      double work = one.facts.slots * tokens_a_second * suite_seconds;
      for (plan.requests = 0; work > 0; ++plan.requests) {
        const auto& size = sizes.back()[plan.requests % different_requests];
        work -= size.output + 0.05 * size.prompt;
      }
      plan.horizon = patience;
    }
    plans.push_back(plan);
  }
  const auto runs_of = [&](const limit_policy& policy) {
    std::vector<client_outcome> runs;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      runs.push_back(run_client(one.facts, policy, plans[seed - 1], sizes[seed - 1], seed));
    }
    return runs;
  };
  const std::size_t from = steps ? step_at + 30 : warm_up;
  const std::size_t to = steps ? step_end : measured;

  limit_result result;
  std::vector<client_outcome> best;
  std::vector<double> best_makespan(seeds, std::numeric_limits<double>::infinity());
  for (const auto fixed : fixed_limits(one.facts.slots_after_step)) {
    auto runs = runs_of(fixed);
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      best_makespan[seed] = std::min(best_makespan[seed], runs[seed].makespan);
    }
    if (!best.empty() && total(runs, from, to) <= total(best, from, to)) continue;
    best = std::move(runs);
    result.best_fixed = fixed;
  }

  const auto runs = runs_of(pool::limit_bounds{});
  std::vector<double> of_best;
  std::vector<double> of_makespan;
  std::vector<double> rejected;
  std::vector<double> lost;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    of_best.push_back(runs[seed].throughput(from, to) / best[seed].throughput(from, to));
    of_makespan.push_back(steps ? 0 : best_makespan[seed] / runs[seed].makespan);
    const auto sent = static_cast<double>(runs[seed].sent);
    rejected.push_back(static_cast<double>(runs[seed].rejected) / sent);
    lost.push_back(static_cast<double>(runs[seed].lost) / sent);
  }
  result.of_best = over_seeds(of_best, false);
  result.of_makespan = over_seeds(of_makespan, false);
  result.rejected = over_seeds(rejected, true);
  result.lost = over_seeds(lost, true);
  if (steps) {
    std::size_t back = step_at;
    while (back < step_end && total(runs, back, step_end) < good_enough * total(best, back, step_end)) ++back;
    result.back_s = static_cast<double>(back - step_at);
  }
  return result;
}

}  // namespace evalcore::bench
