#include <evalcore/c/power.h>

#include <evalcore/run/power_plan.hpp>

#include "set_number.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace run = evalcore::run;
using evalcore::result;

struct evc_power_options : capi::handle<evc_power_options>, capi::tells_refusal {
  static constexpr const char* word = "evc_power_options";
  run::power_question asked;
};

evc_power_options* evc_power_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_power_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_power_options_free(evc_power_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_power_options_refusal(const evc_power_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_power_options_set_margin(evc_power_options* options, double margin) EVC_NOEXCEPT {
  return capi::set_number(options, "margin", margin, capi::least_margin, capi::most_margin,
                          [&](double given) { options->asked.test.margin = given; });
}
evc_status evc_power_options_set_alpha(evc_power_options* options, double alpha) EVC_NOEXCEPT {
  return capi::set_number(options, "alpha", alpha, capi::least_alpha, capi::most_alpha,
                          [&](double given) { options->asked.test.alpha = given; });
}
evc_status evc_power_options_set_power(evc_power_options* options, double power) EVC_NOEXCEPT {
  return capi::set_number(options, "power", power, capi::least_power, capi::most_power,
                          [&](double given) { options->asked.test.power = given; });
}
evc_status evc_power_options_set_difference(evc_power_options* options, double difference) EVC_NOEXCEPT {
  return capi::set_number(options, "difference", difference, -0.999, 0.999,
                          [&](double given) { options->asked.difference = given; });
}
evc_status evc_power_options_set_differing(evc_power_options* options, double share) EVC_NOEXCEPT {
  return capi::set_number(options, "differing", share, 1e-6, 1.0, [&](double given) {
    options->asked.differing = given;
    options->asked.spread.reset();
  });
}
evc_status evc_power_options_set_spread(evc_power_options* options, double deviation) EVC_NOEXCEPT {
  return capi::set_number(options, "spread", deviation, 1e-6, 1.0, [&](double given) {
    options->asked.spread = given;
    options->asked.differing.reset();
  });
}
evc_status evc_power_options_set_items(evc_power_options* options, uint64_t items) EVC_NOEXCEPT {
  return capi::set_number(options, "items", std::uint64_t{items}, std::uint64_t{2},
                          std::uint64_t{1'000'000'000},
                          [&](std::uint64_t given) { options->asked.items = given; });
}
evc_status evc_power_options_set_looks(evc_power_options* options, uint32_t looks) EVC_NOEXCEPT {
  return capi::set_number(options, "looks", std::uint64_t{looks}, std::uint64_t{1}, std::uint64_t{50},
                          [&](std::uint64_t given) { options->asked.looks = given; });
}

evc_status evc_power_plan(const evc_power_options* options, evc_text** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (options != nullptr) {
      if (auto good = capi::check_live(options); !good) return good;
    }
    const auto planned = run::plan_power(options == nullptr ? run::power_question{} : options->asked);
    if (!planned) return planned.error();
    *out = new evc_text(evalcore::json::to_text(run::to_json(*planned)) + "\n");
    return {};
  });
}
