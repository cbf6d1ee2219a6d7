#include <optional>
#include <string>
#include <utility>

#include <evalcore/c/gate.h>
#include <evalcore/run/compat_gate.hpp>

#include "gate_verdict.hpp"
#include "set_number.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace json = evalcore::json;
namespace run = evalcore::run;
using evalcore::result;

struct evc_gate_rows_options : capi::handle<evc_gate_rows_options>, capi::tells_refusal {
  static constexpr const char* word = "evc_gate_rows_options";
  run::gate_spec spec;
  std::optional<double> threshold;  ///< In the place of the spec's default.
  std::uint64_t passes = 1;
  std::optional<json::value> budget;
};

namespace {

/// The bytes of a file, which need be no text. Errors: invalid_argument.
result<std::string_view> read_bytes(evc_str given, const char* what) {
  if (given.size > 0 && given.data == nullptr)
    return capi::misuse(std::string(what) + " have a size but no data", "null");
  return capi::view(given);
}

result<run::compat_result> gate(std::string_view candidate, std::string_view baseline,
                                const evc_gate_rows_options& how) {
  auto spec = how.spec;
  spec.default_threshold = how.threshold.value_or(spec.default_threshold);
  auto gated = run::compat_gate(spec, run::group_passes(run::read_gate_rows(candidate)),
                                run::read_gate_rows(baseline));
  if (!gated) return gated;
  gated->passes = how.passes;
  gated->budget = how.budget;
  return gated;
}

}  // namespace

evc_gate_rows_options* evc_gate_rows_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_gate_rows_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_gate_rows_options_free(evc_gate_rows_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_gate_rows_options_refusal(const evc_gate_rows_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_gate_rows_options_set_spec(evc_gate_rows_options* options, evc_str json,
                                          evc_error** error) EVC_NOEXCEPT {
  return capi::guard_set(
      options,
      [&]() -> result<void> {
        const auto text = capi::read_text(json, "the spec");
        if (!text) return text.error();
        auto spec = run::read_gate_spec(*text, "the spec", false);
        if (!spec) return std::move(spec).error();
        options->spec = *std::move(spec);
        return {};
      },
      error);
}
evc_status evc_gate_rows_options_set_threshold(evc_gate_rows_options* options,
                                               double percentage_points) EVC_NOEXCEPT {
  return capi::set_number(options, "threshold", percentage_points, 0.0, 1e9,
                          [&](double given) { options->threshold = given; });
}
evc_status evc_gate_rows_options_set_passes(evc_gate_rows_options* options, uint32_t passes) EVC_NOEXCEPT {
  return capi::set_number(options, "passes", std::uint64_t{passes}, std::uint64_t{1}, std::uint64_t{1000},
                          [&](std::uint64_t given) { options->passes = given; });
}
evc_status evc_gate_rows_options_set_budget(evc_gate_rows_options* options, evc_str json,
                                            evc_error** error) EVC_NOEXCEPT {
  return capi::guard_set(
      options,
      [&]() -> result<void> {
        const auto text = capi::read_text(json, "the budget");
        if (!text) return text.error();
        auto budget = run::read_budget(*text, "the budget");
        if (!budget) return std::move(budget).error();
        options->budget = *std::move(budget);
        return {};
      },
      error);
}

evc_status evc_gate_rows(evc_str candidate, evc_str baseline, const evc_gate_rows_options* options,
                         int32_t* verdict, evc_text** out, evc_error** error) EVC_NOEXCEPT {
  capi::tell(verdict, EVC_GATE_INCONCLUSIVE);
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    const auto rows = read_bytes(candidate, "the rows of the candidate");
    if (!rows) return rows.error();
    const auto before = read_bytes(baseline, "the rows of the baseline");
    if (!before) return before.error();
    if (options != nullptr) {
      if (auto good = capi::check_live(options); !good) return good;
    }
    const auto gated = gate(*rows, *before, options != nullptr ? *options : evc_gate_rows_options{});
    if (!gated) return gated.error();
    *out = new evc_text(run::to_text(*gated));
    capi::tell(verdict, gated->failed() == 0 ? EVC_GATE_PASS : EVC_GATE_FAIL);
    return {};
  });
}
