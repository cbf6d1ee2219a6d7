#ifndef EVALCORE_C_EVENT_H
#define EVALCORE_C_EVENT_H

#include <evalcore/c/reply.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Something that happened in a pool, a run, episodes or a backend of the host's. One thread at a time; it may
 * move between threads. What the functions below give is borrowed until the event is freed.
 */
typedef struct evc_event evc_event;

/** Kinds of events. Those that a program does not know it ignores. */
enum {
  EVC_EVENT_TEXT = 1,      /**< More of an answer's text; only if the request asked for it. */
  EVC_EVENT_RETRYING = 2,  /**< An attempt failed, another follows; its text so far is void. With an error. */
  EVC_EVENT_END = 3,       /**< The last of a request: it has a reply or an error. */
  EVC_EVENT_DRAINED = 4,   /**< The last of a pool. It has an error where the pool stopped by itself. */
  EVC_EVENT_NOTE = 5,      /**< Of a run: a sentence for a person, as text. */
  EVC_EVENT_PROGRESS = 6,  /**< Of a run: where it stands, as JSON. One that was not polled yet is brought up
                              to date, so a host that reads slowly gets few. */
  EVC_EVENT_RUN_END = 7,   /**< The last of a run: its summary as JSON, or an error; both where the summary
                              could not be written to its file. */
  EVC_EVENT_REPLIED = 8,   /**< Of an episode: the model's reply. The host answers it. */
  EVC_EVENT_STOPPED = 9,   /**< Of an episode: no further turn, with an error where a request failed. The host
                              ends it or gives it up. */
  EVC_EVENT_DIVERGED = 10, /**< Of an episode: from here on it is not what it was. Nothing to answer. */
  EVC_EVENT_FINISHED = 11, /**< Of an episode: it was ended before. Nothing to answer. */
  EVC_EVENT_ASKED = 12,    /**< Of a backend that the host plays: a request as JSON. The host answers it. */
  EVC_EVENT_WITHDRAWN = 13,  /**< Of a backend that the host plays: nobody waits for that answer any more. */
  EVC_EVENT_SCORE_ASKED = 14 /**< Of a run whose host scores: a reply to be scored. The host answers it. */
};

/** One of EVC_EVENT_…. */
EVC_API int32_t evc_event_kind(const evc_event* event) EVC_NOEXCEPT;
/** What the request got when it was submitted or asked, or the number of an episode; 0 for what belongs to
 * none. */
EVC_API uint64_t evc_event_ticket(const evc_event* event) EVC_NOEXCEPT;
/** What the host gave with the request or the episode; 0 for what belongs to none. */
EVC_API uint64_t evc_event_tag(const evc_event* event) EVC_NOEXCEPT;
/** Of TEXT: what comes next in the answer; of NOTE: the sentence. Empty for other kinds. */
EVC_API evc_str evc_event_text(const evc_event* event) EVC_NOEXCEPT;
/**
 * Of PROGRESS an object: {items, reused, done, running, retrying, errors, prompt_tokens, cached_tokens,
 * completion_tokens, elapsed_s, paused_s}, what is not known null; members may be added. Of RUN_END what
 * stands in summary.json (docs/run-files.md). Of an episode {id, epoch}, and of REPLIED turn, reused; of
 * STOPPED why; of DIVERGED turn, dropped; of FINISHED outcome, as it was given. Of ASKED the body of a chat
 * completion. Of SCORE_ASKED {id, epoch, item, target}: the item as it stands in the suite, and what is
 * expected of it. Empty for other kinds.
 */
EVC_API evc_str evc_event_json(const evc_event* event) EVC_NOEXCEPT;
/** Of REPLIED, SCORE_ASKED, and of an END without an error: the answer. NULL otherwise. */
EVC_API const evc_reply* evc_event_reply(const evc_event* event) EVC_NOEXCEPT;
/** What went wrong; NULL: nothing. It belongs to the event: evc_error_free leaves it alone. */
EVC_API const evc_error* evc_event_error(const evc_event* event) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_event_free(evc_event* event) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
