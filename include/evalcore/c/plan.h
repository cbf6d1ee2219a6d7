#ifndef EVALCORE_C_PLAN_H
#define EVALCORE_C_PLAN_H

#include <evalcore/c/backend.h>
#include <evalcore/c/run_options.h>
#include <evalcore/c/suite.h>
#include <evalcore/c/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a run of the suite would send in which order, and what the backend's cache can be expected to give:
 * the object that `evalcore plan --json` prints. Nothing is generated.
 *
 * `backend` tells what the model sees and how its cache works; NULL: prompts are counted in bytes, and a
 * cache is assumed that finds any common prefix. Of `options`, limit, order, params, tools, prompt_cache,
 * pool and price count; NULL: the defaults; a price needs a backend. Blocks while prompts are cut into
 * tokens; evc_run_options_cancel_plan and evc_runtime_interrupt end that. On failure *out is NULL. Any
 * thread. Caller frees with evc_text_free.
 */
EVC_API evc_status evc_suite_plan(const evc_suite* suite, const evc_backend* backend,
                                  const evc_run_options* options, evc_text** out,
                                  evc_error** error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
