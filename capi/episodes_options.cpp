#include "episodes_options.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "guard.hpp"
#include "inputs.hpp"
#include "pool_options.hpp"

namespace capi = evalcore::capi;
using evalcore::result;

namespace {

/// Sets what is in its range.
template <class Change>
evc_status set(evc_episodes_options* options, bool in_range, Change&& change) noexcept {
  return capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_live(options); !good) return good;
    if (!in_range) return capi::misuse("the value is out of its range");
    change(options->how);
    return {};
  });
}

}  // namespace

evc_episodes_options* evc_episodes_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_episodes_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_episodes_options_free(evc_episodes_options* options) EVC_NOEXCEPT { capi::free_handle(options); }

evc_status evc_episodes_options_set_suite(evc_episodes_options* options, evc_str name) EVC_NOEXCEPT {
  return capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_live(options); !good) return good;
    auto read = capi::read_text(name, "the suite");
    if (!read) return std::move(read).error();
    if (read->empty()) return capi::misuse("the suite has no name");
    options->how.suite = *std::move(read);
    return {};
  });
}
evc_status evc_episodes_options_set_pool(evc_episodes_options* options,
                                         const evc_pool_options* pool) EVC_NOEXCEPT {
  return capi::guard(nullptr, [&]() -> result<void> {
    if (auto good = capi::check_live(options); !good) return good;
    if (auto good = capi::check_live(pool); !good) return good;
    options->how.pool = pool->whole();
    return {};
  });
}
evc_status evc_episodes_options_set_max_turns(evc_episodes_options* options, uint32_t turns) EVC_NOEXCEPT {
  return set(options, turns > 0, [&](auto& how) { how.limits.turns = turns; });
}
evc_status evc_episodes_options_set_max_tokens(evc_episodes_options* options, uint64_t tokens) EVC_NOEXCEPT {
  return set(options, tokens > 0, [&](auto& how) { how.limits.tokens = tokens; });
}
evc_status evc_episodes_options_set_max_time_s(evc_episodes_options* options, double seconds) EVC_NOEXCEPT {
  constexpr double least = 1e-9;
  constexpr double most = 1e7;
  return set(options, capi::in_range(seconds, least, most),
             [&](auto& how) { how.limits.time = evalcore::duration(std::llround(seconds * 1e9)); });
}
evc_status evc_episodes_options_set_max_cost(evc_episodes_options* options, double cost) EVC_NOEXCEPT {
  return set(options, capi::in_range(cost, 0, std::numeric_limits<double>::max()),
             [&](auto& how) { how.limits.cost = cost; });
}
