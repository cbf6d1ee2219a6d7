#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <evalcore/base/json.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/patience.hpp>
#include <evalcore/run/prepare.hpp>
#include <evalcore/run/suite.hpp>
#include <evalcore/run/suite_plan.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "open_backend.hpp"
#include "printable.hpp"

namespace evalcore::cli {
namespace {

/// Groups beyond this many are counted, not listed.
constexpr std::size_t groups_shown = 20;

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

void print_table(const run::suite_plan& of) {
  const auto units = run::group_units(of.plan);
  const char* unit = of.plan.exact ? "tokens" : "bytes";
  std::printf(
      "%zu items, %llu %s of prompts (the longest %u), of which the first %u are common to all; tools: %s\n",
      of.ids.size(), static_cast<unsigned long long>(of.plan.total_units), unit, run::longest_prompt(of.plan),
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
  const auto prices = run::open_prices(wanted.price);
  if (!prices) return prices.error();
  auto suite = run::suite::open(wanted.suite, wanted.answers);
  if (!suite) return std::move(suite).error();
  const auto items = std::min(suite->size(), wanted.limit.value_or(suite->size()));
  if (auto checked = run::check_items(*suite, items); !checked) return std::move(checked).error();

  const run::suite_plan_options how{.limit = wanted.limit,
                                    .suite_order = wanted.suite_order,
                                    .request = wanted.request,
                                    .max_in_flight = wanted.pool.max_in_flight,
                                    .prices = *prices ? &**prices : nullptr,
                                    .model = arguments.backend.model,
                                    .expected_output = arguments.expected_output};
  net::loop loop;
  const auto made = [&]() -> result<run::suite_plan> {
    if (arguments.backend.selector.empty()) return run::plan_suite(*suite, how, nullptr);
    const auto note = [](const std::string& text) {
      std::fprintf(stderr, "evalcore: %s\n", printable(text).c_str());
    };
    const auto again = pool::patient(wanted.pool.retry, note);
    const auto backend = open_backend(loop, sized_for(arguments.backend, wanted, items), again, stop);
    if (!backend) return backend.error();
    const run::planning_backend with{loop, **backend, again, note, stop};
    return run::plan_suite(*suite, how, &with);
  }();
  if (!made) return made.error();
  if (wanted.json) {
    std::printf("%s\n", json::to_text(run::to_json(*made, *suite)).c_str());
  } else {
    print_table(*made);
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
