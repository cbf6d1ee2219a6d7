#include <evalcore/c/plan.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include <evalcore/pool/patience.hpp>
#include <evalcore/run/suite_plan.hpp>

#include "backend.hpp"
#include "guard.hpp"
#include "inputs.hpp"
#include "run_options.hpp"
#include "suite.hpp"
#include "text.hpp"

namespace capi = evalcore::capi;
namespace run = evalcore::run;
using evalcore::result;

namespace {

result<run::suite_plan> plan(const run::suite& suite, const run::suite_plan_options& how, bool scored_by_host,
                             const evc_backend* backend, const std::stop_source& own) {
  const auto items = std::min(suite.size(), how.limit.value_or(suite.size()));
  if (auto checked = run::check_items(suite, items, scored_by_host); !checked)
    return std::move(checked).error();
  if (backend == nullptr) return run::plan_suite(suite, how, nullptr);
  auto& on = *backend->shared->runtime;
  const capi::cancellable_wait wait(on, own);
  const auto nobody = [](const std::string&) {};
  const run::planning_backend with{on.loop, *backend->shared->answers, evalcore::pool::patient({}, nobody),
                                   nobody, wait.until_ended()};
  return run::plan_suite(suite, how, &with);
}

}  // namespace

evc_status evc_suite_plan(const evc_suite* suite, const evc_backend* backend, const evc_run_options* options,
                          evc_text** out, evc_error** error) EVC_NOEXCEPT {
  return capi::guard(error, [&]() -> result<void> {
    if (auto good = capi::clear(out); !good) return good;
    if (auto good = capi::check_live(suite); !good) return good;
    if (backend != nullptr) {
      if (auto good = capi::check_usable(backend); !good) return good;
    }
    run::suite_plan_options how;
    std::optional<run::price_list> prices;
    if (options != nullptr) {
      if (auto good = capi::check_live(options); !good) return good;
      how.limit = options->how.limit;
      how.suite_order = options->how.suite_order;
      how.request = options->how.request;
      how.max_in_flight = options->how.pool.max_in_flight;
      if (!options->price.empty() && backend == nullptr) {
        return capi::misuse("a price needs a backend, which names the model");
      }
      auto opened = run::open_prices(options->price);
      if (!opened) return std::move(opened).error();
      prices = *std::move(opened);
      if (prices) how.prices = &*prices;
    }
    const bool scored_by_host = options != nullptr && !options->host_scorer.empty();
    const auto own = options != nullptr ? options->planning : std::stop_source(std::nostopstate);
    const auto made = plan(*suite->shared, how, scored_by_host, backend, own);
    if (!made) return made.error();
    *out = new evc_text(evalcore::json::to_text(run::to_json(*made, *suite->shared)));
    return {};
  });
}
