#include "toy_engine.h"

#include <stdlib.h>
#include <string.h>

uint64_t toy_hash(uint64_t hash, uint8_t byte) { return (hash ^ byte) * UINT64_C(1099511628211) + 1u; }

uint8_t toy_next(uint64_t hash) {
  const uint32_t high = (uint32_t)(hash >> 40);
  return high % 29u == 0u ? 0u : (uint8_t)('a' + high % 26u);
}

static evc_str str(const char* text) {
  evc_str made;
  made.data = text;
  made.size = strlen(text);
  return made;
}

static evc_status fail(toy_engine* toy, evc_status status, const char* words) {
  strncpy(toy->words, words, TOY_WORDS - 1);
  return status;
}

static toy_row* row_of(toy_engine* toy, uint64_t id) {
  int i;
  for (i = 0; i < TOY_ROWS; ++i) {
    if (id != 0 && toy->rows[i].id == id) return &toy->rows[i];
  }
  return NULL;
}

static void drop(toy_row* row) {
  free(row->prompt);
  free(row->continuations);
  memset(row, 0, sizeof *row);
}

static evc_status start(void* context) {
  ++((toy_engine*)context)->starts;
  return EVC_OK;
}

static evc_status about(void* context, evc_traits* traits) {
  static const evc_pair identity = {{"version", 7}, {"1", 1}};
  (void)context;
  traits->name = str("toy");
  traits->model = str("bytes");
  traits->identity = &identity;
  traits->identity_size = 1;
  traits->max_rows = TOY_ROWS;
  traits->context_tokens = 4096;
  traits->can = EVC_CAN_SNAPSHOT | EVC_CAN_SCORE;
  return EVC_OK;
}

static evc_status render(void* context, evc_str request, evc_rendered* out) {
  toy_engine* toy = context;
  if (request.size > sizeof toy->text) return fail(toy, EVC_E_CONTEXT_OVERFLOW, "the request is too long");
  memcpy(toy->text, request.data, request.size);
  out->text.data = toy->text;
  out->text.size = request.size;
  out->template_name = str("as it is");
  return EVC_OK;
}

static evc_status tokenize(void* context, evc_str text, int32_t special, evc_tokens* out) {
  toy_engine* toy = context;
  size_t i;
  (void)special;
  if (text.size > 4096) return fail(toy, EVC_E_CONTEXT_OVERFLOW, "the text is too long");
  for (i = 0; i < text.size; ++i) toy->tokens[i] = (uint8_t)text.data[i];
  out->data = toy->tokens;
  out->size = text.size;
  return EVC_OK;
}

static evc_status open_row(void* context, const evc_row* asked, uint64_t* id) {
  toy_engine* toy = context;
  toy_row* row = NULL;
  size_t i, j, at = 0;
  for (i = 0; i < TOY_ROWS && row == NULL; ++i) {
    if (toy->rows[i].id == 0) row = &toy->rows[i];
  }
  if (row == NULL) return fail(toy, EVC_E_BUSY, "all rows are taken");
  if (asked->cuts_size > 4) return fail(toy, EVC_E_UNSUPPORTED, "at most four cuts");
  row->prompt = malloc(asked->prompt.size);
  row->size = (uint32_t)asked->prompt.size;
  for (i = 0; i < asked->prompt.size; ++i) row->prompt[i] = (uint8_t)asked->prompt.data[i];
  if (asked->from != NULL) {
    row->hash = *(const uint64_t*)asked->from;
    row->done = asked->restored;
  }
  row->cut_count = (uint32_t)asked->cuts_size;
  for (i = 0; i < asked->cuts_size; ++i) row->cuts[i] = asked->cuts[i];
  row->logprobs = asked->logprobs;
  row->continuation_count = (uint32_t)asked->continuations_size;
  row->continuations = calloc(1, 4096);
  for (i = 0; i < asked->continuations_size; ++i, ++at) {
    for (j = 0; j < asked->continuations[i].size; ++j) {
      row->continuations[at++] = (uint8_t)asked->continuations[i].data[j];
    }
  }
  *id = row->id = ++toy->last_id;
  return EVC_OK;
}

static void feed(toy_engine* toy, toy_row* row, uint32_t batch_rows, evc_step* out) {
  uint32_t stop = row->done + TOY_CHUNK < row->size ? row->done + TOY_CHUNK : row->size;
  uint32_t i;
  int32_t at_cut = 0;
  for (i = 0; i < row->cut_count; ++i) {
    if (row->cuts[i] > row->done && row->cuts[i] <= stop) {
      stop = row->cuts[i];
      at_cut = 1;
      break;
    }
  }
  for (; row->done < stop; ++row->done, ++toy->fed) row->hash = toy_hash(row->hash, row->prompt[row->done]);
  evc_step_prefilled(out, row->id, row->done, at_cut, batch_rows);
}

static void score(toy_row* row, evc_step* out) {
  const uint8_t* at = row->continuations;
  uint32_t i;
  for (i = 0; i < row->continuation_count; ++i, ++at) {
    uint64_t hash = row->hash;
    double sum = 0;
    int32_t greedy = 1;
    for (; *at != 0; ++at) {
      if (*at != toy_next(hash)) greedy = 0;
      hash = toy_hash(hash, *at);
      sum -= 0.5;
    }
    evc_step_scored(out, row->id, i, sum, greedy, i + 1 == row->continuation_count);
  }
  drop(row);
}

static void decode(const toy_engine* toy, toy_row* row, uint32_t batch_rows, evc_step* out) {
  const int wrong = toy->wrong_from_width != 0 && batch_rows >= toy->wrong_from_width;
  const uint8_t next = toy_next(row->hash);
  evc_str text;
  if (next == 0) {
    evc_step_end(out, row->id, 0, batch_rows);
    drop(row);
    return;
  }
  text.data = (const char*)&next;
  text.size = 1;
  row->hash = toy_hash(row->hash, next);
  evc_step_token(out, row->id, next, text, batch_rows);
  if (row->logprobs) {
    evc_step_logprob(out, wrong ? -0.25000003f : -0.25f);
    evc_step_likely(out, next, -0.25f);
    evc_step_likely(out, 'z', -2.0f);
  }
}

static evc_status step(void* context, uint32_t max_width, evc_step* out) {
  toy_engine* toy = context;
  uint32_t open = 0;
  int i;
  if (toy->failing) return fail(toy, EVC_E_BACKEND_FAULT, "the toy is broken");
  for (i = 0; i < TOY_ROWS; ++i) open += toy->rows[i].id != 0;
  if (open > max_width) open = max_width;
  for (i = 0; i < TOY_ROWS; ++i) {
    toy_row* row = &toy->rows[i];
    if (row->id == 0) continue;
    if (row->done < row->size) {
      feed(toy, row, open, out);
    } else if (row->continuation_count > 0) {
      score(row, out);
    } else {
      decode(toy, row, open, out);
    }
  }
  if (toy->lying) evc_step_token(out, 999, 'x', str("x"), 1);
  return EVC_OK;
}

static int32_t remove_row(void* context, uint64_t id) {
  toy_row* row = row_of(context, id);
  if (row != NULL) drop(row);
  return 1;
}

static uint64_t snapshot_bytes(void* context, uint32_t tokens) {
  (void)context;
  return UINT64_C(1000) * tokens;
}

static evc_status take_snapshot(void* context, uint64_t id, void** snapshot, uint64_t* bytes) {
  toy_engine* toy = context;
  const toy_row* row = row_of(toy, id);
  uint64_t* kept = malloc(sizeof *kept);
  if (row == NULL || kept == NULL) return fail(toy, EVC_E_NO_MEMORY, "no snapshot");
  *kept = row->hash;
  *snapshot = kept;
  *bytes = snapshot_bytes(toy, row->done);
  ++toy->snapshots;
  return EVC_OK;
}

static void free_snapshot(void* context, void* snapshot) {
  --((toy_engine*)context)->snapshots;
  free(snapshot);
}

static void memory(void* context, evc_memory* out) {
  (void)context;
  out->working_set = UINT64_C(8000000000);
  out->active = UINT64_C(1000000000);
}

static evc_str last_words(void* context) { return str(((toy_engine*)context)->words); }

static void destroy(void* context) {
  toy_engine* toy = context;
  int i;
  for (i = 0; i < TOY_ROWS; ++i) drop(&toy->rows[i]);
  ++toy->destroys;
}

evc_step_engine_table toy_table(void) {
  evc_step_engine_table table;
  memset(&table, 0, sizeof table);
  table.struct_size = sizeof table;
  table.start = start;
  table.about = about;
  table.render = render;
  table.tokenize = tokenize;
  table.open = open_row;
  table.step = step;
  table.remove = remove_row;
  table.snapshot_bytes = snapshot_bytes;
  table.take_snapshot = take_snapshot;
  table.free_snapshot = free_snapshot;
  table.memory = memory;
  table.last_words = last_words;
  table.destroy = destroy;
  return table;
}
