#ifndef TOY_ENGINE_H
#define TOY_ENGINE_H

/* A model runtime of a few lines, as a host would give one to evalcore. A token is a byte. What comes next
   depends only on the bytes so far, so that anybody can say what the answer must be: see toy_next. */

#include <evalcore/c/step_engine.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TOY_ROWS = 4, TOY_CHUNK = 8, TOY_WORDS = 64 };

typedef struct toy_row {
  uint64_t id; /* 0: free. */
  uint64_t hash;
  uint8_t* prompt;
  uint32_t size;
  uint32_t done;
  uint32_t cuts[4];
  uint32_t cut_count;
  int logprobs;
  uint32_t continuation_count;
  uint8_t* continuations; /* Each ended by 0. */
} toy_row;

typedef struct toy_engine {
  toy_row rows[TOY_ROWS];
  uint64_t last_id;
  /* What a test looks at. */
  int starts;
  int destroys;
  int snapshots;             /* Alive. */
  uint64_t fed;              /* Tokens that were computed. */
  int failing;               /* 1: step fails. */
  int lying;                 /* 1: step tells of a row that is not there. */
  uint32_t wrong_from_width; /* Of batches of so many rows the probabilities are off; 0: of none. */
  char words[TOY_WORDS];
  int32_t tokens[4096];
  char text[4096];
} toy_engine;

/** What the runtime's functions are. A context is a toy_engine filled with zeros. */
evc_step_engine_table toy_table(void);

/** The state after one more byte; it begins with 0. */
uint64_t toy_hash(uint64_t hash, uint8_t byte);
/** What follows in that state; 0: the end. */
uint8_t toy_next(uint64_t hash);

#ifdef __cplusplus
}
#endif

#endif
