#include <evalcore/run/power_plan.hpp>

#include <cmath>
#include <utility>

#include <evalcore/base/json_optional.hpp>

namespace evalcore::run {
namespace {

constexpr double usual_differing = 0.1;

}  // namespace

result<power_plan> plan_power(const power_question& asked) {
  const double differing = asked.differing.value_or(usual_differing);
  if (!asked.spread && differing <= std::fabs(asked.difference)) {
    return fail(errc::invalid_argument, stage::config,
                "so large a true difference needs more items than that to differ; raise `differing`");
  }
  power_plan out;
  out.asked = asked;
  out.design = {.spread = asked.spread ? *asked.spread : stats::binary_spread(differing, asked.difference),
                .margin = asked.test.margin,
                .difference = asked.difference,
                .alpha = asked.test.alpha};
  out.items_needed = stats::items_needed(out.design, asked.test.power);
  if (asked.items) {
    out.power_of_items = stats::power_of(out.design, *asked.items);
    out.detectable_effect =
        stats::detectable_effect(out.design.spread, *asked.items, asked.test.power, asked.test.alpha);
  }
  std::vector<double> fractions;
  for (std::uint64_t i = 1; i <= asked.looks; ++i)
    fractions.push_back(static_cast<double>(i) / static_cast<double>(asked.looks));
  out.looks = stats::obrien_fleming_looks(fractions, asked.test.alpha);
  return out;
}

json::value to_json(const power_plan& of) {
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
                      {"power", of.asked.test.power},
                      {"items_needed", json::or_null(of.items_needed)},
                      {"items", json::or_null(of.asked.items)},
                      {"power_of_items", json::or_null(of.power_of_items)},
                      {"detectable_effect", json::or_null(of.detectable_effect)},
                      {"looks", std::move(looks)}};
}

}  // namespace evalcore::run
