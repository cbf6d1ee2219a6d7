#ifndef EVALCORE_C_SCORE_H
#define EVALCORE_C_SCORE_H

#include <evalcore/c/suite.h>
#include <evalcore/c/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How replies are scored. Each function is named after the option of `evalcore score`. One thread at a time.
 * A value that is refused changes nothing. */
typedef struct evc_score_options evc_score_options;

/** Everything at its default. NULL: no memory. Caller frees with evc_score_options_free. */
EVC_API evc_score_options* evc_score_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_score_options_free(evc_score_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_score_options_refusal(const evc_score_options* options) EVC_NOEXCEPT;
/** In the place of the items' own: a scorer's name, or a JSON object with its options (docs/scoring.md).
 * Empty, the default: those. EVC_E_NOT_FOUND: no scorer of that name; EVC_E_INVALID_ARGUMENT: not such
 * options. Copied during the call. */
EVC_API evc_status evc_score_options_set_scorer(evc_score_options* options, evc_str scorer) EVC_NOEXCEPT;
/** Only the first so many items of the suite, at least 1. Default: all. */
EVC_API evc_status evc_score_options_set_limit(evc_score_options* options, uint64_t items) EVC_NOEXCEPT;

/**
 * Scores replies that are there already, without a backend: what `evalcore score` does. `replies`: the path
 * of a file of JSON lines, or of BFCL's results (docs/suite.md). `options` NULL: the defaults.
 *
 * *out is the summary, the bytes that `evalcore score --json` prints; items without a reply are `not_run` in
 * it. *verdicts, unless verdicts is NULL, gets a line of JSON for each verdict, as `--verdicts` writes them;
 * *unknown, unless unknown is NULL, the number of replies to no item of the suite. Caller frees both texts
 * with evc_text_free.
 *
 * Blocks while it reads and scores. On failure *out and *verdicts are NULL. EVC_E_NOT_FOUND, EVC_E_STORAGE:
 * the file. EVC_E_BAD_SUITE: a line of either file, which is named, also for a target that the scorer cannot
 * use. Any thread.
 */
EVC_API evc_status evc_suite_score(const evc_suite* suite, evc_str replies, const evc_score_options* options,
                                   evc_text** verdicts, uint64_t* unknown, evc_text** out,
                                   evc_error** error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
