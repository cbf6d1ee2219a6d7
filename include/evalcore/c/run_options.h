#ifndef EVALCORE_C_RUN_OPTIONS_H
#define EVALCORE_C_RUN_OPTIONS_H

#include <evalcore/c/pool_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How a suite is run. Each function is named after the option of `evalcore run` that means the same, where
 * there is one. One thread at a time. Texts are copied during the call. A value out of its range is refused
 * with EVC_E_INVALID_ARGUMENT and changes nothing.
 */
typedef struct evc_run_options evc_run_options;

/** Everything at its default, but for `out`, which must be set. NULL: no memory. Caller frees with
 * evc_run_options_free. */
EVC_API evc_run_options* evc_run_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_run_options_free(evc_run_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_run_options_refusal(const evc_run_options* options) EVC_NOEXCEPT;
/** Each evc_suite_plan with these options that waits for its backend ends with EVC_E_CANCELLED, also one that
 * comes later. A run is left alone. Any thread, also meanwhile. */
EVC_API evc_status evc_run_options_cancel_plan(evc_run_options* options) EVC_NOEXCEPT;
/** The folder for summary.json, rows.jsonl and run.db (docs/run-files.md). A run that finds its own run.db
 * there goes on from it. */
EVC_API evc_status evc_run_options_set_out(evc_run_options* options, evc_str folder) EVC_NOEXCEPT;
/** The store. Default: run.db in the folder. */
EVC_API evc_status evc_run_options_set_store(evc_run_options* options, evc_str path) EVC_NOEXCEPT;
/** What the rows are named after. Default: the suite's task. */
EVC_API evc_status evc_run_options_set_task(evc_run_options* options, evc_str name) EVC_NOEXCEPT;
/** "prefix" (the default): in the order of a plan; "suite": as the items stand. */
EVC_API evc_status evc_run_options_set_order(evc_run_options* options, evc_str name) EVC_NOEXCEPT;
/** Only the first so many items. Default: all. */
EVC_API evc_status evc_run_options_set_limit(evc_run_options* options, uint64_t items) EVC_NOEXCEPT;
/** Only part `index` of `count`, from 1 (docs/shards.md). */
EVC_API evc_status evc_run_options_set_shard(evc_run_options* options, uint32_t index,
                                             uint32_t count) EVC_NOEXCEPT;
/** How requests go out; copied during the call. */
EVC_API evc_status evc_run_options_set_pool(evc_run_options* options,
                                            const evc_pool_options* pool) EVC_NOEXCEPT;
/**
 * Parameters for what an item leaves open, as a JSON object: temperature, top_p, top_k, max_tokens, seed,
 * stop. EVC_E_INVALID_REQUEST: another name, or a value out of its range.
 */
EVC_API evc_status evc_run_options_set_params(evc_run_options* options, evc_str json,
                                              evc_error** error) EVC_NOEXCEPT;
/** How declared tools reach the model: "auto" (the default), "native", "text". */
EVC_API evc_status evc_run_options_set_tools(evc_run_options* options, evc_str name) EVC_NOEXCEPT;
/** 0: the backend's prompt cache is left alone. Default 1. */
EVC_API evc_status evc_run_options_set_prompt_cache(evc_run_options* options, int32_t wanted) EVC_NOEXCEPT;
/** Another store to take replies from; empty: only the run's own. */
EVC_API evc_status evc_run_options_set_cache(evc_run_options* options, evc_str path) EVC_NOEXCEPT;
/** 1: also replies that may come out otherwise each time. Default 0. */
EVC_API evc_status evc_run_options_set_cache_sampled(evc_run_options* options, int32_t wanted) EVC_NOEXCEPT;
/** A price file (docs/cost.md). Default: costs are not counted. */
EVC_API evc_status evc_run_options_set_price(evc_run_options* options, evc_str path) EVC_NOEXCEPT;
/** US dollars, 0.000000001 to 1,000,000: nothing more is sent that could exceed it. Needs a price file.
 */
EVC_API evc_status evc_run_options_set_max_cost(evc_run_options* options, double usd) EVC_NOEXCEPT;
/** Asks so many items twice (docs/noise.md), at least 1. */
EVC_API evc_status evc_run_options_set_noise_floor(evc_run_options* options, uint64_t items) EVC_NOEXCEPT;
/** 1: the backend is asked first what it can do. Default 0. */
EVC_API evc_status evc_run_options_set_probe(evc_run_options* options, int32_t wanted) EVC_NOEXCEPT;
/** In the rows. Default: as the backend names the model. */
EVC_API evc_status evc_run_options_set_model_name(evc_run_options* options, evc_str name) EVC_NOEXCEPT;
/** In the rows: the step of training. Default: none. */
EVC_API evc_status evc_run_options_set_model_step(evc_run_options* options, int64_t step) EVC_NOEXCEPT;
/** In the rows, 1: this is the baseline. Default 0. */
EVC_API evc_status evc_run_options_set_baseline(evc_run_options* options, int32_t is_baseline) EVC_NOEXCEPT;
/**
 * The host scores all replies, in the place of the suite's scorers: EVC_EVENT_SCORE_ASKED comes for each, and
 * evc_run_score or evc_run_unscored answers it. `name`: of the metric. The store keeps scores under it: a run
 * that goes on asks for none that it has under the same name, so a scorer that changed takes another.
 */
EVC_API evc_status evc_run_options_set_host_scorer(evc_run_options* options, evc_str name) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
