#include <evalcore/c/gate.h>

#include <string>
#include <utility>
#include <vector>

#include <evalcore/run/gate.hpp>

#include "gate_verdict.hpp"
#include "run_paths.hpp"
#include "set_number.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace run = evalcore::run;
using evalcore::result;

struct evc_gate_options : capi::handle<evc_gate_options>, capi::tells_refusal {
  static constexpr const char* word = "evc_gate_options";
  run::gate_options how;
  std::string suite;
  std::string answers;
};

namespace {

evc_status set_path(evc_gate_options* options, evc_str path, const char* what,
                    std::string evc_gate_options::* into) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    auto read = capi::read_text(path, what);
    if (!read) return std::move(read).error();
    options->*into = *std::move(read);
    return {};
  });
}

std::int32_t verdict_of(run::gate_verdict of) {
  switch (of) {
    case run::gate_verdict::pass:
      return EVC_GATE_PASS;
    case run::gate_verdict::fail:
      return EVC_GATE_FAIL;
    case run::gate_verdict::inconclusive:
      break;
  }
  return EVC_GATE_INCONCLUSIVE;
}

/// A baseline and its candidate each, as run::gate() has them.
result<std::vector<run::scored_runs>> read_pairs(const std::vector<std::string>& stores,
                                                 const std::string& suite, const std::string& answers) {
  if (stores.empty() || stores.size() % 2 != 0)
    return capi::misuse("runs are gated in pairs: a candidate and its baseline, for each suite");
  if (stores.size() > 2 && !(suite + answers).empty())
    return capi::misuse("suite and answers are of one suite; gate one at a time");
  std::vector<run::scored_runs> out;
  for (std::size_t i = 0; i < stores.size(); i += 2) {
    auto read = run::read_runs({stores[i + 1], stores[i]}, suite, answers);
    if (!read) return std::move(read).error();
    out.push_back(*std::move(read));
  }
  return out;
}

}  // namespace

evc_gate_options* evc_gate_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_gate_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_gate_options_free(evc_gate_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_gate_options_refusal(const evc_gate_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_gate_options_set_margin(evc_gate_options* options, double margin) EVC_NOEXCEPT {
  return capi::set_number(options, "margin", margin, capi::least_margin, capi::most_margin,
                          [&](double given) { options->how.margin = given; });
}
evc_status evc_gate_options_set_alpha(evc_gate_options* options, double alpha) EVC_NOEXCEPT {
  return capi::set_number(options, "alpha", alpha, capi::least_alpha, capi::most_alpha,
                          [&](double given) { options->how.alpha = given; });
}
evc_status evc_gate_options_set_power(evc_gate_options* options, double power) EVC_NOEXCEPT {
  return capi::set_number(options, "power", power, capi::least_power, capi::most_power,
                          [&](double given) { options->how.power = given; });
}
evc_status evc_gate_options_set_suite(evc_gate_options* options, evc_str path) EVC_NOEXCEPT {
  return set_path(options, path, "the path of the suite", &evc_gate_options::suite);
}
evc_status evc_gate_options_set_answers(evc_gate_options* options, evc_str path) EVC_NOEXCEPT {
  return set_path(options, path, "the path of the answers", &evc_gate_options::answers);
}

evc_status evc_gate_runs(const evc_str* runs, size_t count, const evc_gate_options* options, int32_t* verdict,
                         evc_text** out, evc_error** error) EVC_NOEXCEPT {
  capi::tell(verdict, EVC_GATE_INCONCLUSIVE);
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    const auto stores = capi::read_stores(runs, count);
    if (!stores) return stores.error();
    if (options != nullptr) {
      if (auto good = capi::check_live(options); !good) return good;
    }
    auto pairs = options == nullptr ? read_pairs(*stores, {}, {})
                                    : read_pairs(*stores, options->suite, options->answers);
    if (!pairs) return std::move(pairs).error();
    const auto report = run::gate(*std::move(pairs), options == nullptr ? run::gate_options{} : options->how);
    *out = new evc_text(evalcore::json::to_text(run::to_json(report)) + "\n");
    capi::tell(verdict, verdict_of(report.verdict));
    return {};
  });
}
