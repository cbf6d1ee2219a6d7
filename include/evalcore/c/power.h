#ifndef EVALCORE_C_POWER_H
#define EVALCORE_C_POWER_H

#include <evalcore/c/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A gate that is planned. Each function is named after the option of `evalcore power`. One thread at a time.
 * A value out of its range is refused with EVC_E_INVALID_ARGUMENT and changes nothing. */
typedef struct evc_power_options evc_power_options;

/** Everything at its default. NULL: no memory. Caller frees with evc_power_options_free. */
EVC_API evc_power_options* evc_power_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_power_options_free(evc_power_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_power_options_refusal(const evc_power_options* options) EVC_NOEXCEPT;
/** As evc_gate_options_set_margin. */
EVC_API evc_status evc_power_options_set_margin(evc_power_options* options, double margin) EVC_NOEXCEPT;
/** As evc_gate_options_set_alpha. */
EVC_API evc_status evc_power_options_set_alpha(evc_power_options* options, double alpha) EVC_NOEXCEPT;
/** How likely the gate is to pass what it is to pass: 0.01 to 0.9999. Default 0.8. */
EVC_API evc_status evc_power_options_set_power(evc_power_options* options, double power) EVC_NOEXCEPT;
/** The true difference, candidate less baseline: -0.999 to 0.999. Default 0. */
EVC_API evc_status evc_power_options_set_difference(evc_power_options* options,
                                                    double difference) EVC_NOEXCEPT;
/** The share of items that only one of the two gets right: 0.000001 to 1. Default 0.1. */
EVC_API evc_status evc_power_options_set_differing(evc_power_options* options, double share) EVC_NOEXCEPT;
/** In its place: the standard deviation of the items' differences, 0.000001 to 1. */
EVC_API evc_status evc_power_options_set_spread(evc_power_options* options, double deviation) EVC_NOEXCEPT;
/** What so many items can show, 2 to 1,000,000,000. Default: only how many are needed. */
EVC_API evc_status evc_power_options_set_items(evc_power_options* options, uint64_t items) EVC_NOEXCEPT;
/** Bounds for so many looks at equal parts of the items, to stop early: 1 to 50. Default: none. */
EVC_API evc_status evc_power_options_set_looks(evc_power_options* options, uint32_t looks) EVC_NOEXCEPT;

/**
 * How many items a gate needs, and what so many can show: what `evalcore power` does (docs/statistics.md).
 * `options` NULL: the defaults. *out is the JSON that `evalcore power --json` prints. Caller frees with
 * evc_text_free. On failure *out is NULL. EVC_E_INVALID_ARGUMENT: fewer items differ than the true difference
 * needs. Any thread.
 */
EVC_API evc_status evc_power_plan(const evc_power_options* options, evc_text** out,
                                  evc_error** error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
