#ifndef EVALCORE_C_STEP_ENGINE_H
#define EVALCORE_C_STEP_ENGINE_H

#include <evalcore/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A model runtime given as a table of C functions.
 *
 * Threads: one thread of evalcore makes all calls, from start to destroy; only interrupt may come from any.
 * The functions must not call evc_engine_free.
 *
 * Memory: what evalcore passes is borrowed until the function returns. What the engine gives back, texts and
 * arrays, is copied before its next function is called.
 *
 * Sizes: a struct with a struct_size may be longer in another version. Neither side reads or writes beyond
 * it.
 */

typedef struct evc_tokens {
  const int32_t* data;
  size_t size;
} evc_tokens;

typedef struct evc_pair {
  evc_str name;
  evc_str value;
} evc_pair;

typedef struct evc_bias {
  int32_t token;
  double bias;
} evc_bias;

typedef struct evc_image {
  uint32_t index; /**< Which of the prompt's places for images it fills, from 0. */
  evc_str bytes;  /**< The file. */
} evc_image;

/** What an engine can do, in evc_traits.can. */
enum {
  EVC_CAN_SAMPLE_PER_ROW = 1, /**< Rows that sample may share a step with others. */
  EVC_CAN_SNAPSHOT = 2,       /**< take_snapshot works. */
  EVC_CAN_SCORE = 4,          /**< Rows may have continuations. */
  EVC_CAN_MEDIA = 8,          /**< Rows may have images. */
  EVC_IS_RECURRENT = 16,      /**< A snapshot costs much even of a short prefix: few are kept. */
  EVC_IS_EXACT = 32           /**< An answer never depends on the rows beside it nor on what was restored, or
                                   the host does not mind. Without it evalcore compares rows before the first
                                   request, and keeps to what changes no bit. */
};

/** What an engine is. evalcore fills in the defaults named here, the engine what differs. */
typedef struct evc_traits {
  uint32_t struct_size;     /**< Set by evalcore. */
  uint32_t can;             /**< Of EVC_CAN_… and EVC_IS_…, or'ed. 0. */
  evc_str name;             /**< What the runtime calls itself. "table". */
  evc_str model;            /**< As the model names itself. Empty. */
  const evc_pair* identity; /**< What an answer may depend on: a model file's hash, a version, … None. */
  size_t identity_size;     /**< Pairs. */
  uint32_t max_rows;        /**< Rows that may be open at once, at least 1. 1. */
  uint32_t context_tokens;  /**< Of one row, prompt and answer together. Must be told. */
  uint32_t prefix_grid;     /**< A prefix is cut, kept and restored only at multiples of this. 1. */
} evc_traits;

/** A row to be opened. */
typedef struct evc_row {
  uint32_t struct_size;
  uint32_t max_tokens; /**< Of the answer, at least 1. evalcore removes the row when it has them. */
  evc_tokens prompt;   /**< The whole prompt, at least one token. */
  void* from;          /**< A snapshot whose tokens begin the prompt; NULL: none. */
  uint32_t restored; /**< How many of its tokens to use: fewer than the prompt has, a multiple of the grid. */
  int32_t has_seed;  /**< 0: the engine draws one. */
  uint64_t seed;
  const uint32_t* cuts; /**< After so many tokens the prefill pauses for one step. Rising, above restored. */
  size_t cuts_size;
  double temperature; /**< 0: the likeliest token, the lowest id among equals. */
  double top_p;
  double min_p;
  double repetition_penalty;
  double presence_penalty;
  double frequency_penalty;
  const evc_bias* bias;
  size_t bias_size;
  uint32_t top_k;        /**< 0: all. */
  int32_t logprobs;      /**< 1: evc_step_logprob after each token. */
  uint32_t top_logprobs; /**< So many evc_step_likely after each token. */
  uint32_t reserved;
  const evc_tokens*
      continuations; /**< If any, nothing is generated: each is scored as if it followed the prompt. */
  size_t continuations_size;
  const evc_image* images;
  size_t images_size;
} evc_row;

/** A prompt as the model's chat template writes it. */
typedef struct evc_rendered {
  uint32_t struct_size; /**< Set by evalcore. */
  uint32_t reserved;
  evc_str text; /**< With the special tokens spelled out. */
  evc_str template_name;
  evc_str warning; /**< Why the same request may render differently another day; empty: it does not. */
} evc_rendered;

/** Bytes. EVC_UNKNOWN, which evalcore fills in, is unknown. */
typedef struct evc_memory {
  uint32_t struct_size; /**< Set by evalcore. */
  uint32_t reserved;
  uint64_t working_set; /**< What the device lets one process use. */
  uint64_t active;      /**< Of it, what the engine uses. */
  uint64_t free_ram;    /**< Of the machine. */
} evc_memory;

#define EVC_UNKNOWN UINT64_MAX

/** What one step did: told through the functions below, in any order, while step runs. */
typedef struct evc_step evc_step;

/** The row holds so many tokens of its prompt now, restored ones included. at_cut: it stands at one of its
 * cuts. batch_rows: rows in the largest tensor batch of this step that the row was in. Never fails. */
EVC_API void evc_step_prefilled(evc_step* step, uint64_t row, uint32_t processed, int32_t at_cut,
                                uint32_t batch_rows) EVC_NOEXCEPT;
/** One token of an answer, and the bytes that it adds, maybe none or half a character. The text is copied
 * during the call. */
EVC_API void evc_step_token(evc_step* step, uint64_t row, int32_t token, evc_str text,
                            uint32_t batch_rows) EVC_NOEXCEPT;
/** Of the token told of last: its natural logarithm of probability. */
EVC_API void evc_step_logprob(evc_step* step, float logprob) EVC_NOEXCEPT;
/** Of the place of the token told of last: a likely token; the likeliest comes first. */
EVC_API void evc_step_likely(evc_step* step, int32_t token, float logprob) EVC_NOEXCEPT;
/** The model ended the answer with this token: the row is gone. */
EVC_API void evc_step_end(evc_step* step, uint64_t row, int32_t token, uint32_t batch_rows) EVC_NOEXCEPT;
/** A continuation's sum of natural logarithms, and whether each of its tokens is the likeliest in its place.
 * last: the row is gone. */
EVC_API void evc_step_scored(evc_step* step, uint64_t row, size_t continuation, double sum_logprob,
                             int32_t is_greedy, int32_t last) EVC_NOEXCEPT;
/** interrupt was heard: the rows stand where this step says. */
EVC_API void evc_step_interrupted(evc_step* step) EVC_NOEXCEPT;

/**
 * The functions. `context` is what the host gave with the table. Those marked optional may be NULL.
 *
 * A function that fails returns one of EVC_E_…, and has changed nothing. A failure of step is a fault of the
 * engine: all rows are lost, and evalcore removes them.
 */
typedef struct evc_step_engine_table {
  uint32_t struct_size; /**< sizeof(evc_step_engine_table). */
  uint32_t reserved;    /**< 0. */

  /** Optional. The first call: load what belongs to this thread. After a failure only last_words and destroy
   * follow. */
  evc_status (*start)(void* context);
  /** Once, after start. The engine stays as told. */
  evc_status (*about)(void* context, evc_traits* traits);
  /** Optional. `request` is the body of a chat completion of OpenAI's API. EVC_E_UNSUPPORTED: no template, or
   * no place in it for what the request has. */
  evc_status (*render)(void* context, evc_str request, evc_rendered* out);
  /** special 1: spelled-out special tokens are read as such, and nothing is added. 0: the text is text, and
   * the vocabulary's own beginning is put before it. */
  evc_status (*tokenize)(void* context, evc_str text, int32_t special, evc_tokens* out);
  /** Gives the row an id that no row had before. EVC_E_BUSY: no room until a row or a snapshot goes. */
  evc_status (*open)(void* context, const evc_row* row, uint64_t* id);
  /** For every row that decodes one token, and for rows that prefill some of their prompt: at least one row
   * moves on. max_width: at most so many rows in one tensor batch. */
  evc_status (*step)(void* context, uint32_t max_width, evc_step* out);
  /** 1: the row is gone, or was not there. 0: it cannot leave yet; evalcore asks again after the next step.
   */
  int32_t (*remove)(void* context, uint64_t row);
  /** Optional. Any thread; evalcore holds no lock of its own. The step under way returns soon. Where none is,
   * the next one returns soon, too, without any work if it likes: whoever calls cannot know whether a step
   * has just begun. So a flag is set here, and cleared at the end of a step and not at its beginning. */
  void (*interrupt)(void* context);
  /** Optional. What a snapshot of so many tokens would cost; EVC_UNKNOWN: it shows only when taken. */
  uint64_t (*snapshot_bytes)(void* context, uint32_t tokens);
  /** Optional. Of a row that the last step left at one of its cuts. evalcore frees it with free_snapshot. */
  evc_status (*take_snapshot)(void* context, uint64_t row, void** snapshot, uint64_t* bytes);
  /** Goes with take_snapshot. Before destroy, once for each. */
  void (*free_snapshot)(void* context, void* snapshot);
  /** Optional. */
  void (*memory)(void* context, evc_memory* out);
  /** Optional. What the function that failed last has to say, in a sentence without secrets. */
  evc_str (*last_words)(void* context);
  /** Optional. The last call, once. */
  void (*destroy)(void* context);
} evc_step_engine_table;

#ifdef __cplusplus
}
#endif

#endif
