#include "pool_options.hpp"

#include <cmath>
#include <limits>

#include "guard.hpp"
#include "inputs.hpp"

namespace capi = evalcore::capi;
using evalcore::result;

namespace {

constexpr double most_seconds = 1e7;
constexpr auto any_count = std::numeric_limits<std::uint64_t>::max();

/// Sets a count that is in its range.
template <class Change>
evc_status set(evc_pool_options* options, const char* name, std::uint64_t count, std::uint64_t least,
               std::uint64_t most, Change&& change) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = capi::check_range(name, count, least, most); !good) return good;
    change(options->how);
    return {};
  });
}

template <class Place>
evc_status set_seconds(evc_pool_options* options, const char* name, double seconds, Place&& place) noexcept {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = capi::check_range(name, seconds, 0, most_seconds); !good) return good;
    place(options->how) = evalcore::duration(std::llround(seconds * 1e9));
    return {};
  });
}

}  // namespace

evc_pool_options* evc_pool_options_new(void) EVC_NOEXCEPT {
  try {
    return new evc_pool_options;
  } catch (...) {
    return nullptr;
  }
}
void evc_pool_options_free(evc_pool_options* options) EVC_NOEXCEPT { capi::free_handle(options); }
evc_str evc_pool_options_refusal(const evc_pool_options* options) EVC_NOEXCEPT {
  return capi::refusal_of(options);
}

evc_status evc_pool_options_set_concurrency(evc_pool_options* options, uint32_t requests) EVC_NOEXCEPT {
  return set(options, "concurrency", requests, 1, capi::most_in_flight, [&](auto& how) {
    how.adaptive = false;
    how.max_in_flight = requests;
    options->concurrency_named = true;
  });
}
evc_status evc_pool_options_set_auto_concurrency(evc_pool_options* options, uint32_t highest) EVC_NOEXCEPT {
  return set(options, "auto_concurrency", highest, 1, capi::most_in_flight, [&](auto& how) {
    how.adaptive = true;
    how.highest_tried = highest;
    options->concurrency_named = true;
  });
}
evc_status evc_pool_options_set_retries(evc_pool_options* options, uint32_t retries) EVC_NOEXCEPT {
  return set(options, "retries", retries, 0, 1'000'000, [&](auto& how) { how.retry.retries = retries; });
}
evc_status evc_pool_options_set_max_wait_s(evc_pool_options* options, double seconds) EVC_NOEXCEPT {
  return set_seconds(options, "max_wait_s", seconds, [](auto& how) -> auto& { return how.retry.max_wait; });
}
evc_status evc_pool_options_set_max_outage_s(evc_pool_options* options, double seconds) EVC_NOEXCEPT {
  return set_seconds(options, "max_outage_s", seconds,
                     [](auto& how) -> auto& { return how.breaker.max_outage; });
}
evc_status evc_pool_options_set_max_errors(evc_pool_options* options, uint64_t requests) EVC_NOEXCEPT {
  return set(options, "max_errors", requests, 0, any_count, [&](auto& how) { how.max_errors = requests; });
}
evc_status evc_pool_options_set_requests_per_minute(evc_pool_options* options,
                                                    uint64_t requests) EVC_NOEXCEPT {
  return set(options, "requests_per_minute", requests, 1, any_count,
             [&](auto& how) { how.rate.requests_per_minute = requests; });
}
evc_status evc_pool_options_set_tokens_per_minute(evc_pool_options* options, uint64_t tokens) EVC_NOEXCEPT {
  return set(options, "tokens_per_minute", tokens, 1, any_count,
             [&](auto& how) { how.rate.tokens_per_minute = tokens; });
}
evc_status evc_pool_options_set_rate(evc_pool_options* options, double per_second) EVC_NOEXCEPT {
  return capi::guard_set(options, [&]() -> result<void> {
    if (auto good = capi::check_range("rate", per_second, 1e-6, 1e6); !good) return good;
    options->how.dispatch_rate = per_second;
    return {};
  });
}
evc_status evc_pool_options_set_item_timeout_s(evc_pool_options* options, double seconds) EVC_NOEXCEPT {
  return set_seconds(options, "item_timeout_s", seconds,
                     [](auto& how) -> auto& { return how.total_deadline; });
}
evc_status evc_pool_options_set_time_limit_s(evc_pool_options* options, double seconds) EVC_NOEXCEPT {
  return set_seconds(options, "time_limit_s", seconds, [](auto& how) -> auto& { return how.time_limit; });
}
evc_status evc_pool_options_set_max_outstanding(evc_pool_options* options, uint32_t requests) EVC_NOEXCEPT {
  return set(options, "max_outstanding", requests, 1, any_count,
             [&](auto& /*how*/) { options->max_outstanding = requests; });
}
