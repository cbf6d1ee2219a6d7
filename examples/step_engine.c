/* A model runtime of one's own, in C: evalcore batches what is asked of it.
 *
 *   step_engine TEXT...
 *
 * The model is an echo, in capitals, and a token is a byte. A host's runtime computes in its place.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <evalcore/evalcore.h>

enum { rows = 2, context = 256, most_texts = 8 };

typedef struct echo_row {
  uint64_t id; /* 0: free. */
  int32_t prompt[context];
  uint32_t size, fed, said;
} echo_row;

typedef struct echo {
  echo_row row[rows];
  uint64_t last_id;
  int32_t tokens[context];
} echo;

static evc_status about(void* self, evc_traits* traits) {
  (void)self;
  traits->max_rows = rows;
  traits->context_tokens = context;
  traits->can = EVC_IS_EXACT; /* Rows cannot change each other: they need not be compared. */
  return EVC_OK;
}

static evc_status tokenize(void* self, evc_str text, int32_t special, evc_tokens* out) {
  echo* model = self;
  (void)special;
  if (text.size > context) return EVC_E_CONTEXT_OVERFLOW;
  for (size_t i = 0; i < text.size; ++i) model->tokens[i] = (unsigned char)text.data[i];
  out->data = model->tokens; /* Copied before the next call. */
  out->size = text.size;
  return EVC_OK;
}

static evc_status open_row(void* self, const evc_row* asked, uint64_t* id) {
  echo* model = self;
  int i = 0;
  while (i < rows && model->row[i].id != 0) ++i;
  if (i == rows) return EVC_E_BUSY;
  memset(&model->row[i], 0, sizeof model->row[i]);
  memcpy(model->row[i].prompt, asked->prompt.data, asked->prompt.size * sizeof(int32_t));
  model->row[i].size = (uint32_t)asked->prompt.size;
  *id = model->row[i].id = ++model->last_id;
  return EVC_OK;
}

/* Every open row moves on: by its whole prompt, or by one token. */
static evc_status step(void* self, uint32_t max_width, evc_step* out) {
  echo* model = self;
  (void)max_width;
  for (int i = 0; i < rows; ++i) {
    echo_row* row = &model->row[i];
    if (row->id == 0) continue;
    if (row->fed < row->size) {
      row->fed = row->size;
      evc_step_prefilled(out, row->id, row->fed, 0, 1);
    } else if (row->said < row->size) {
      const char letter = (char)toupper(row->prompt[row->said++]);
      const evc_str text = {&letter, 1};
      evc_step_token(out, row->id, letter, text, 1);
    } else {
      evc_step_end(out, row->id, 0, 1);
      row->id = 0;
    }
  }
  return EVC_OK;
}

static int32_t remove_row(void* self, uint64_t id) {
  echo* model = self;
  for (int i = 0; i < rows; ++i) {
    if (model->row[i].id == id) model->row[i].id = 0;
  }
  return 1;
}

int main(int count, char** words) {
  static echo model; /* All zeros. */
  static char answers[most_texts + 1][context + 1];
  const evc_step_engine_table table = {.struct_size = sizeof table,
                                       .about = about,
                                       .tokenize = tokenize,
                                       .open = open_row,
                                       .step = step,
                                       .remove = remove_row};
  evc_engine* engine = NULL;
  evc_engine_event* event = NULL;
  if (count < 2 || count > most_texts + 1) return 2;
  if (evc_engine_new_table(&table, &model, NULL, &engine, NULL) != EVC_OK) return 1;
  for (int i = 1; i < count; ++i) {
    evc_engine_request* request = evc_engine_request_new();
    const evc_str text = {words[i], strlen(words[i])};
    evc_engine_request_set_prompt(request, text, 0);
    if (evc_engine_submit(engine, request, (uint64_t)i, NULL, NULL) != EVC_OK) return 1;
    evc_engine_request_free(request);
  }
  for (int left = count - 1; left > 0 && evc_engine_poll(engine, -1, &event) == EVC_OK;) {
    /* A token at a time, those of several requests mixed: the tag says whose it is. */
    const uint64_t tag = evc_engine_event_tag(event);
    const evc_str text = evc_engine_event_text(event);
    if (text.size > 0) strncat(answers[tag], text.data, text.size);
    if (evc_engine_event_kind(event) == EVC_ENGINE_EVENT_END) --left;
    if (evc_engine_event_error(event) != NULL) strcpy(answers[tag], "(no answer)");
    evc_engine_event_free(event);
  }
  for (int i = 1; i < count; ++i) printf("%s -> %s\n", words[i], answers[i]);
  evc_engine_free(engine);
  return 0;
}
