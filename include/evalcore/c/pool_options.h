#ifndef EVALCORE_C_POOL_OPTIONS_H
#define EVALCORE_C_POOL_OPTIONS_H

#include <evalcore/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How requests go out (docs/requests.md). Each function is named after the option of the `evalcore` command
 * that means the same, where there is one. One thread at a time. A value out of its range is refused with
 * EVC_E_INVALID_ARGUMENT and changes nothing.
 */
typedef struct evc_pool_options evc_pool_options;

/** Everything at its default. NULL: no memory. Caller frees with evc_pool_options_free. */
EVC_API evc_pool_options* evc_pool_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_pool_options_free(evc_pool_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_pool_options_refusal(const evc_pool_options* options) EVC_NOEXCEPT;
/** Requests in flight at most, at each endpoint: 1 to 10,000. Default 16. */
EVC_API evc_status evc_pool_options_set_concurrency(evc_pool_options* options,
                                                    uint32_t requests) EVC_NOEXCEPT;
/** In its place: as many as serve best, found while the pool runs, up to `highest`: 1 to 10,000. */
EVC_API evc_status evc_pool_options_set_auto_concurrency(evc_pool_options* options,
                                                         uint32_t highest) EVC_NOEXCEPT;
/** How often a failed request is sent again, at most 1,000,000. Default 7. */
EVC_API evc_status evc_pool_options_set_retries(evc_pool_options* options, uint32_t retries) EVC_NOEXCEPT;
/** The longest wait that a server may ask for: seconds, 0 to 10,000,000. Default 120. */
EVC_API evc_status evc_pool_options_set_max_wait_s(evc_pool_options* options, double seconds) EVC_NOEXCEPT;
/** How long an endpoint may be away before it is given up: seconds, 0 to 10,000,000; 0: for ever. Default
 * 600. */
EVC_API evc_status evc_pool_options_set_max_outage_s(evc_pool_options* options, double seconds) EVC_NOEXCEPT;
/** When more requests than this have failed for good, the pool stops. Default: no bound. */
EVC_API evc_status evc_pool_options_set_max_errors(evc_pool_options* options, uint64_t requests) EVC_NOEXCEPT;
/** At each endpoint, at least 1. Default: what the server says of its own limits. */
EVC_API evc_status evc_pool_options_set_requests_per_minute(evc_pool_options* options,
                                                            uint64_t requests) EVC_NOEXCEPT;
/** Of prompts and answers together, at each endpoint, at least 1. Default: what the server says. */
EVC_API evc_status evc_pool_options_set_tokens_per_minute(evc_pool_options* options,
                                                          uint64_t tokens) EVC_NOEXCEPT;
/** Requests that begin in a second, whatever became of those before (open loop): 0.000001 to 1,000,000.
 * With it up to 1,024 are in flight at each endpoint unless a concurrency is set. Default: as fast as the
 * concurrency allows. */
EVC_API evc_status evc_pool_options_set_rate(evc_pool_options* options, double per_second) EVC_NOEXCEPT;
/** For one request, all its attempts together: seconds, 0 to 10,000,000; 0 (the default): none. */
EVC_API evc_status evc_pool_options_set_item_timeout_s(evc_pool_options* options,
                                                       double seconds) EVC_NOEXCEPT;
/** After it nothing more is sent, and the pool stops: seconds, 0 to 10,000,000; 0 (the default): none. */
EVC_API evc_status evc_pool_options_set_time_limit_s(evc_pool_options* options, double seconds) EVC_NOEXCEPT;
/** Requests of a host whose END it has not polled yet, at least 1; more are refused. Default 65,536. A run
 * has no use for it. */
EVC_API evc_status evc_pool_options_set_max_outstanding(evc_pool_options* options,
                                                        uint32_t requests) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
