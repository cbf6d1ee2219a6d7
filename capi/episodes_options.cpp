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

constexpr auto any_count = std::numeric_limits<std::uint64_t>::max();

/// Sets what is in its range.
template <class Number, class Change>
evc_status set(evc_episodes_options* options, const char* name, Number number, Number least, Number most,
               Change&& change) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = capi::check_range(name, number, least, most); !good) return good;
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
evc_str evc_episodes_options_refusal(const evc_episodes_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_episodes_options_set_suite(evc_episodes_options* options, evc_str name) EVC_NOEXCEPT {
  return capi::guard_set(options, [&]() -> result<void> {
    auto read = capi::read_text(name, "the suite");
    if (!read) return std::move(read).error();
    if (read->empty()) return capi::misuse("the suite has no name");
    options->how.suite = *std::move(read);
    return {};
  });
}
evc_status evc_episodes_options_set_pool(evc_episodes_options* options,
                                         const evc_pool_options* pool) EVC_NOEXCEPT {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = capi::check_live(pool); !good) return good;
    options->how.pool = pool->whole();
    return {};
  });
}
evc_status evc_episodes_options_set_max_turns(evc_episodes_options* options, uint32_t turns) EVC_NOEXCEPT {
  return set<std::uint64_t>(options, "max_turns", turns, 1, any_count,
                            [&](auto& how) { how.limits.turns = turns; });
}
evc_status evc_episodes_options_set_max_tokens(evc_episodes_options* options, uint64_t tokens) EVC_NOEXCEPT {
  return set<std::uint64_t>(options, "max_tokens", tokens, 1, any_count,
                            [&](auto& how) { how.limits.tokens = tokens; });
}
evc_status evc_episodes_options_set_max_time_s(evc_episodes_options* options, double seconds) EVC_NOEXCEPT {
  constexpr double least = 1e-9;
  constexpr double most = 1e7;
  return set(options, "max_time_s", seconds, least, most,
             [&](auto& how) { how.limits.time = evalcore::duration(std::llround(seconds * 1e9)); });
}
evc_status evc_episodes_options_set_max_cost(evc_episodes_options* options, double cost) EVC_NOEXCEPT {
  return set(options, "max_cost", cost, 0.0, std::numeric_limits<double>::max(),
             [&](auto& how) { how.limits.cost = cost; });
}
