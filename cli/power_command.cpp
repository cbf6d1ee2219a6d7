#include <cstdio>

#include <evalcore/base/json.hpp>
#include <evalcore/run/power_plan.hpp>

#include "commands.hpp"
#include "exit_status.hpp"

namespace evalcore::cli {
namespace {

void print(const run::power_plan& of) {
  std::printf("margin %g, true difference %g, standard deviation of the items' differences %.4f, alpha %g\n",
              of.design.margin, of.design.difference, of.design.spread, of.design.alpha);
  if (of.items_needed) {
    std::printf("items for a power of %g: %llu\n", of.asked.test.power,
                static_cast<unsigned long long>(*of.items_needed));
  } else {
    std::printf("items for a power of %g: more than a billion, or none are enough\n", of.asked.test.power);
  }
  if (of.asked.items && of.power_of_items && of.detectable_effect) {
    std::printf("%llu items have a power of %.4f; with %g they show what is %.4f or more\n",
                static_cast<unsigned long long>(*of.asked.items), *of.power_of_items, of.asked.test.power,
                *of.detectable_effect);
  }
  for (const auto& one : of.looks) {
    std::printf("look at %5.1f %% of the items: stop if p < %.3g (z > %.4f); %.3g of alpha spent\n",
                100 * one.fraction, one.p, one.z, one.spent);
  }
}

}  // namespace

result<int> power_command(const power_arguments& arguments) {
  const auto planned = run::plan_power(arguments.asked);
  if (!planned) return planned.error();
  if (arguments.json) {
    std::printf("%s\n", json::to_text(run::to_json(*planned)).c_str());
  } else {
    print(*planned);
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
