#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/json_optional.hpp>
#include <evalcore/stats/power.hpp>
#include <evalcore/stats/sequential.hpp>

#include "commands.hpp"
#include "exit_status.hpp"

namespace evalcore::cli {
namespace {

/// Where nothing is known of the runs.
constexpr double usual_differing = 0.1;

struct answer {
  stats::paired_design design;
  std::optional<std::uint64_t> needed;
  std::optional<double> power;       ///< Of --items.
  std::optional<double> detectable;  ///< By them.
  std::vector<stats::look> looks;
};

answer work_out(const power_arguments& arguments) {
  answer out;
  out.design.spread = arguments.spread ? *arguments.spread
                                       : stats::binary_spread(arguments.differing.value_or(usual_differing),
                                                              arguments.difference);
  out.design.margin = arguments.test.margin;
  out.design.difference = arguments.difference;
  out.design.alpha = arguments.test.alpha;
  out.needed = stats::items_needed(out.design, arguments.test.power);
  if (arguments.items) {
    out.power = stats::power_of(out.design, *arguments.items);
    out.detectable = stats::detectable_effect(out.design.spread, *arguments.items, arguments.test.power,
                                              arguments.test.alpha);
  }
  std::vector<double> fractions;
  for (std::uint64_t i = 1; i <= arguments.looks; ++i)
    fractions.push_back(static_cast<double>(i) / static_cast<double>(arguments.looks));
  out.looks = stats::obrien_fleming_looks(fractions, arguments.test.alpha);
  return out;
}

json::value to_json(const answer& of, const power_arguments& arguments) {
  json::array looks;
  for (const auto& one : of.looks) {
    looks.push_back(json::object{{"fraction", one.fraction},
                                 {"alpha_spent", one.spent},
                                 {"z", std::isfinite(one.z) ? json::value(one.z) : json::value()},
                                 {"p", one.p}});
  }
  return json::object{{"margin", of.design.margin},
                      {"difference", of.design.difference},
                      {"spread", of.design.spread},
                      {"alpha", of.design.alpha},
                      {"power", arguments.test.power},
                      {"items_needed", json::or_null(of.needed)},
                      {"items", json::or_null(arguments.items)},
                      {"power_of_items", json::or_null(of.power)},
                      {"detectable_effect", json::or_null(of.detectable)},
                      {"looks", std::move(looks)}};
}

void print(const answer& of, const power_arguments& arguments) {
  std::printf("margin %g, true difference %g, standard deviation of the items' differences %.4f, alpha %g\n",
              of.design.margin, of.design.difference, of.design.spread, of.design.alpha);
  if (of.needed) {
    std::printf("items for a power of %g: %llu\n", arguments.test.power,
                static_cast<unsigned long long>(*of.needed));
  } else {
    std::printf("items for a power of %g: more than a billion, or none are enough\n", arguments.test.power);
  }
  if (arguments.items && of.power && of.detectable) {
    std::printf("%llu items have a power of %.4f; with %g they show what is %.4f or more\n",
                static_cast<unsigned long long>(*arguments.items), *of.power, arguments.test.power,
                *of.detectable);
  }
  for (const auto& one : of.looks) {
    std::printf("look at %5.1f %% of the items: stop if p < %.3g (z > %.4f); %.3g of alpha spent\n",
                100 * one.fraction, one.p, one.z, one.spent);
  }
}

}  // namespace

result<int> power_command(const power_arguments& arguments) {
  const double differing = arguments.differing.value_or(usual_differing);
  if (!arguments.spread && differing <= std::fabs(arguments.difference)) {
    return fail(errc::invalid_argument, stage::config,
                "a true difference of --difference needs more items than that to differ; raise --differing");
  }
  const auto found = work_out(arguments);
  if (arguments.json) {
    std::printf("%s\n", json::to_text(to_json(found, arguments)).c_str());
  } else {
    print(found, arguments);
  }
  return exit_status::done;
}

}  // namespace evalcore::cli
