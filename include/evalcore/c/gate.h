#ifndef EVALCORE_C_GATE_H
#define EVALCORE_C_GATE_H

#include <evalcore/c/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a gate says (docs/gate.md). A program treats a value that it does not know as
 * EVC_GATE_INCONCLUSIVE. */
enum {
  EVC_GATE_PASS = 1,        /**< The candidate is no worse. */
  EVC_GATE_FAIL = 2,        /**< It is worse. */
  EVC_GATE_INCONCLUSIVE = 3 /**< Neither is shown: too few items. */
};

/** How runs are gated. Each function is named after the option of `evalcore gate`. One thread at a time. A
 * value out of its range is refused with EVC_E_INVALID_ARGUMENT and changes nothing. */
typedef struct evc_gate_options evc_gate_options;

/** Everything at its default. NULL: no memory. Caller frees with evc_gate_options_free. */
EVC_API evc_gate_options* evc_gate_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_gate_options_free(evc_gate_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_gate_options_refusal(const evc_gate_options* options) EVC_NOEXCEPT;
/** How much of the score may be lost: 0.000001 to 0.999; a loss of that or more must not pass. Default
 * 0.02. */
EVC_API evc_status evc_gate_options_set_margin(evc_gate_options* options, double margin) EVC_NOEXCEPT;
/** How often the one-sided test may be wrong: 0.000000001 to 0.4999. Default 0.05. */
EVC_API evc_status evc_gate_options_set_alpha(evc_gate_options* options, double alpha) EVC_NOEXCEPT;
/** What the figures on the items that are needed are for: 0.01 to 0.9999. Default 0.8. */
EVC_API evc_status evc_gate_options_set_power(evc_gate_options* options, double power) EVC_NOEXCEPT;
/** The path of the suite; empty, the default: where the runs found it. For one pair of runs. */
EVC_API evc_status evc_gate_options_set_suite(evc_gate_options* options, evc_str path) EVC_NOEXCEPT;
/** The answers of a BFCL suite; as above. */
EVC_API evc_status evc_gate_options_set_answers(evc_gate_options* options, evc_str path) EVC_NOEXCEPT;

/**
 * Whether a candidate is shown to be no worse than a baseline, suite by suite: what `evalcore gate` does.
 *
 * `runs`: a candidate and its baseline, for each suite in turn: stores (run.db), or the folders that hold
 * them. `options` NULL: the defaults. *verdict, unless verdict is NULL, is one of EVC_GATE_…; *out is what
 * stands in gate-result.json, to the byte. Nothing is written. Caller frees with evc_text_free.
 *
 * Blocks while it reads and scores. On failure *out is NULL, and *verdict EVC_GATE_INCONCLUSIVE.
 * EVC_E_INVALID_ARGUMENT: no pairs, or runs of different suites or scorers, which are named. EVC_E_NOT_FOUND:
 * a store or the suite. EVC_E_BUSY: a store that a run has. EVC_E_BAD_SUITE, EVC_E_STORAGE. Any thread.
 */
EVC_API evc_status evc_gate_runs(const evc_str* runs, size_t count, const evc_gate_options* options,
                                 int32_t* verdict, evc_text** out, evc_error** error) EVC_NOEXCEPT;

/** How rows are gated: what a spec says. Each function is named after the option of `evalcore gate --compat`.
 * One thread at a time. A value that is refused changes nothing. */
typedef struct evc_gate_rows_options evc_gate_rows_options;

/** Everything at its default. NULL: no memory. Caller frees with evc_gate_rows_options_free. */
EVC_API evc_gate_rows_options* evc_gate_rows_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_gate_rows_options_free(evc_gate_rows_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_gate_rows_options_refusal(const evc_gate_rows_options* options) EVC_NOEXCEPT;
/** The spec, as its file has it (docs/gate.md). Of it `default_threshold` and `suites` count; their commands
 * are not run. Default: every row is gated. EVC_E_INVALID_ARGUMENT: no such JSON. */
EVC_API evc_status evc_gate_rows_options_set_spec(evc_gate_rows_options* options, evc_str json,
                                                  evc_error** error) EVC_NOEXCEPT;
/** Percentage points that a metric may lose whose suite has no threshold of its own: 0 to 1,000,000,000.
 * Default: the spec's, 2. */
EVC_API evc_status evc_gate_rows_options_set_threshold(evc_gate_rows_options* options,
                                                       double percentage_points) EVC_NOEXCEPT;
/** How often the candidate was evaluated, 1 to 1,000; the result repeats it. Default 1. */
EVC_API evc_status evc_gate_rows_options_set_passes(evc_gate_rows_options* options,
                                                    uint32_t passes) EVC_NOEXCEPT;
/** The budget of the evaluation, as JSON; the result repeats what it knows of it. EVC_E_INVALID_ARGUMENT: no
 * such JSON. */
EVC_API evc_status evc_gate_rows_options_set_budget(evc_gate_rows_options* options, evc_str json,
                                                    evc_error** error) EVC_NOEXCEPT;

/**
 * Whether a metric of the candidate lost more than its threshold, whatever the number of items: what
 * `evalcore gate --compat` does. `candidate` and `baseline`: the bytes of files of rows; lines that are no
 * rows, also those that are not UTF-8, are left out. `options` NULL: the defaults. *verdict, unless verdict
 * is NULL, is EVC_GATE_PASS or EVC_GATE_FAIL; *out is what stands in gate-result.json, to the byte. Caller
 * frees with evc_text_free.
 *
 * On failure *out is NULL, and *verdict EVC_GATE_INCONCLUSIVE. EVC_E_INVALID_ARGUMENT: scores that are too
 * large to be averaged or compared. Any thread.
 */
EVC_API evc_status evc_gate_rows(evc_str candidate, evc_str baseline, const evc_gate_rows_options* options,
                                 int32_t* verdict, evc_text** out, evc_error** error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
