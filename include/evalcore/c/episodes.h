#ifndef EVALCORE_C_EPISODES_H
#define EVALCORE_C_EPISODES_H

#include <evalcore/c/backend.h>
#include <evalcore/c/event.h>
#include <evalcore/c/pool_options.h>
#include <evalcore/c/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How episodes are run. One thread at a time. A value out of its range is refused with
 * EVC_E_INVALID_ARGUMENT and changes nothing. */
typedef struct evc_episodes_options evc_episodes_options;

/** Everything at its default, but for the suite, which must be set. NULL: no memory. Caller frees with
 * evc_episodes_options_free. */
EVC_API evc_episodes_options* evc_episodes_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_episodes_options_free(evc_episodes_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, for a person; empty: it was not. Borrowed until the
 * next. */
EVC_API evc_str evc_episodes_options_refusal(const evc_episodes_options* options) EVC_NOEXCEPT;
/** What the episodes are of: a name, with a version or a hash of all that a reply depends on and no request
 * shows. Not empty. */
EVC_API evc_status evc_episodes_options_set_suite(evc_episodes_options* options, evc_str name) EVC_NOEXCEPT;
/** How requests go out; copied during the call. */
EVC_API evc_status evc_episodes_options_set_pool(evc_episodes_options* options,
                                                 const evc_pool_options* pool) EVC_NOEXCEPT;
/** Replies of one episode, at least 1. Default: no limit. */
EVC_API evc_status evc_episodes_options_set_max_turns(evc_episodes_options* options,
                                                      uint32_t turns) EVC_NOEXCEPT;
/** Prompts and answers of all turns of one episode together, at least 1. Default: no limit. */
EVC_API evc_status evc_episodes_options_set_max_tokens(evc_episodes_options* options,
                                                       uint64_t tokens) EVC_NOEXCEPT;
/** Seconds from an episode's first request, above 0, at most 10,000,000. Default: no limit. */
EVC_API evc_status evc_episodes_options_set_max_time_s(evc_episodes_options* options,
                                                       double seconds) EVC_NOEXCEPT;
/** What one episode may cost by evc_episodes_add_cost, 0 or more. Default: no limit. */
EVC_API evc_status evc_episodes_options_set_max_cost(evc_episodes_options* options, double cost) EVC_NOEXCEPT;

/**
 * Conversations whose next request depends on the last reply (docs/episodes.md): the host begins them and
 * answers their events. Each reply is in the store before its event comes; another time the same calls meet
 * the same events, and nothing is sent for what the store has. Any thread, for all but evc_episodes_free: no
 * other call may be under way.
 *
 * After a failure of the store every call gives that error, and DRAINED with it is the last event.
 */
typedef struct evc_episodes evc_episodes;

/**
 * `endpoints` as for evc_pool_new. `store`: a file, made if it is not there; it is for these episodes alone
 * meanwhile. On failure *out is NULL; EVC_E_BUSY: another has the store. Caller frees with evc_episodes_free.
 */
EVC_API evc_status evc_episodes_open(evc_runtime* runtime, evc_backend* const* endpoints, size_t count,
                                     evc_str store, const evc_episodes_options* options, evc_episodes** out,
                                     evc_error** error) EVC_NOEXCEPT;
/** Cancels what is out. What is done is in the store. NULL is fine. */
EVC_API void evc_episodes_free(evc_episodes* episodes) EVC_NOEXCEPT;

/**
 * Begins an episode with its first request, which is copied. `id` and `epoch` name it in the store. `tag`
 * comes back with each event, and so does *episode, above 0, as the event's ticket. It waits until there is
 * room. EVC_E_INVALID_ARGUMENT: it is under way already, or the backend cannot be asked that.
 */
EVC_API evc_status evc_episodes_begin(evc_episodes* episodes, evc_str id, uint32_t epoch,
                                      const evc_request* first, uint64_t tag, uint64_t* episode,
                                      evc_error** error) EVC_NOEXCEPT;
/** Answers REPLIED: the reply stays as it is, and the messages of `turns` follow; nothing else of it counts.
 */
EVC_API evc_status evc_episodes_next(evc_episodes* episodes, uint64_t episode, const evc_request* turns,
                                     evc_error** error) EVC_NOEXCEPT;
/** Answers REPLIED with a whole request, for a host that edits its history. EVC_E_INVALID_ARGUMENT: it has a
 * context. */
EVC_API evc_status evc_episodes_next_whole(evc_episodes* episodes, uint64_t episode, const evc_request* whole,
                                           evc_error** error) EVC_NOEXCEPT;
/** Adds to what the episode has cost, in the host's own unit. Told again when it goes on another time. */
EVC_API evc_status evc_episodes_add_cost(evc_episodes* episodes, uint64_t episode, double cost,
                                         evc_error** error) EVC_NOEXCEPT;
/** Answers REPLIED or STOPPED: the episode is over. `outcome`: JSON that is kept for the host, or empty. */
EVC_API evc_status evc_episodes_end(evc_episodes* episodes, uint64_t episode, evc_str outcome,
                                    evc_error** error) EVC_NOEXCEPT;
/** Gives an episode up, whatever it does: another time it is run again. Events of it may be on their way. */
EVC_API evc_status evc_episodes_cancel(evc_episodes* episodes, uint64_t episode,
                                       evc_error** error) EVC_NOEXCEPT;
/** Episodes that were begun and are not over, or are over and their FINISHED is not polled yet; 0 as well
 * where that cannot be told. */
EVC_API uint64_t evc_episodes_running(const evc_episodes* episodes) EVC_NOEXCEPT;

/**
 * Cancels what is out and closes the run in the store. After the events that are left evc_episodes_poll gives
 * EVC_E_CLOSED. *out is a JSON object: {episodes, ended, finished_before, left, sent, retried, replies,
 * reused, diverged, prompt_tokens, cached_tokens, completion_tokens, possibly_paid_twice, wall_s}, what is
 * not known null. Caller frees with evc_text_free. Once.
 */
EVC_API evc_status evc_episodes_finish(evc_episodes* episodes, evc_text** out,
                                       evc_error** error) EVC_NOEXCEPT;

/** As evc_pool_poll. */
EVC_API evc_status evc_episodes_poll(evc_episodes* episodes, int32_t timeout_ms,
                                     evc_event** out) EVC_NOEXCEPT;
/** As evc_pool_wake. */
EVC_API evc_status evc_episodes_wake(evc_episodes* episodes) EVC_NOEXCEPT;
/** As evc_pool_event_fd. */
EVC_API int32_t evc_episodes_event_fd(evc_episodes* episodes) EVC_NOEXCEPT;
/** As evc_pool_set_wakeup. */
EVC_API evc_status evc_episodes_set_wakeup(evc_episodes* episodes, void (*hook)(void* context),
                                           void* context) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
