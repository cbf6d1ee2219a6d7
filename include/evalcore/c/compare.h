#ifndef EVALCORE_C_COMPARE_H
#define EVALCORE_C_COMPARE_H

#include <evalcore/c/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Runs of one suite, item by item, all others against the first: what `evalcore compare` does
 * (docs/statistics.md). Each is the newest run of a store, scored as a run would score it now.
 *
 * `runs`: stores (run.db), or the folders that hold them; two at least. `suite`, `answers`: the suite, and
 * the answers of one of BFCL's; empty: where the first run found them. *out is the JSON that `evalcore
 * compare
 * --json` prints. Caller frees with evc_text_free.
 *
 * Blocks while it reads and scores. On failure *out is NULL. EVC_E_INVALID_ARGUMENT: too few runs, or runs of
 * different suites or scorers, which are named. EVC_E_NOT_FOUND: a store or the suite. EVC_E_BUSY: a store
 * that a run has. EVC_E_BAD_SUITE, EVC_E_STORAGE. Any thread.
 */
EVC_API evc_status evc_compare_runs(const evc_str* runs, size_t count, evc_str suite, evc_str answers,
                                    evc_text** out, evc_error** error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
