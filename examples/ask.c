/* Questions to a model, many at a time, in C:
 *
 *   ask SCRIPT.jsonl QUESTION...
 *
 * asks the replies of a script (docs/suite.md) and prints each answer as it comes. A model in the process, a
 * server or a paid API takes other options and the same loop.
 */
#include <stdio.h>
#include <string.h>

#include <evalcore/evalcore.h>

static evc_str str(const char* text) {
  evc_str made;
  made.data = text;
  made.size = strlen(text);
  return made;
}

static int failed(const char* what, evc_error* error) {
  const evc_str why = evc_error_message(error);
  fprintf(stderr, "%s: %.*s\n", what, (int)why.size, why.data);
  evc_error_free(error);
  return 1;
}

static evc_status submit(evc_pool* pool, const char* text, uint64_t tag, evc_error** error) {
  evc_status status;
  evc_request* request = evc_request_new();
  evc_request_add_message(request, EVC_ROLE_USER, str(text));
  evc_request_set_temperature(request, 0);
  evc_request_set_max_tokens(request, 64);
  status = evc_pool_submit(pool, request, tag, NULL, error);
  evc_request_free(request);
  return status;
}

static int print_answers(evc_pool* pool, char** questions) {
  int failures = 0;
  evc_event* event;
  while (evc_pool_poll(pool, -1, &event) == EVC_OK) {
    if (evc_event_kind(event) == EVC_EVENT_END) {
      const char* question = questions[evc_event_tag(event)];
      const evc_reply* reply = evc_event_reply(event);
      if (reply != NULL) {
        const evc_str text = evc_reply_text(reply);
        printf("%s -> %.*s\n", question, (int)text.size, text.data);
      } else {
        const evc_str why = evc_error_message(evc_event_error(event));
        printf("%s failed: %.*s\n", question, (int)why.size, why.data);
        ++failures;
      }
    }
    evc_event_free(event);
  }
  return failures == 0 ? 0 : 1;
}

int main(int count, char** words) {
  evc_runtime* runtime = NULL;
  evc_backend_options* options = evc_backend_options_new();
  evc_backend* backend = NULL;
  evc_pool* pool = NULL;
  evc_error* error = NULL;
  int i;
  int status;
  if (count < 3) {
    fprintf(stderr, "usage: ask SCRIPT.jsonl QUESTION...\n");
    return 2;
  }
  if (evc_runtime_new(&runtime, &error) != EVC_OK) return failed("cannot start", error);
  evc_backend_options_set_script(options, str(words[1]));
  if (evc_backend_open(runtime, str("scripted"), options, &backend, &error) != EVC_OK) {
    return failed("cannot open the backend", error);
  }
  evc_backend_options_free(options);
  if (evc_pool_new(runtime, &backend, 1, NULL, &pool, &error) != EVC_OK) return failed("no pool", error);

  for (i = 2; i < count; ++i) {
    if (submit(pool, words[i], (uint64_t)i, &error) != EVC_OK) return failed(words[i], error);
  }
  evc_pool_shutdown(pool, 0);
  status = print_answers(pool, words);

  evc_pool_free(pool);
  evc_backend_free(backend);
  evc_runtime_free(runtime);
  return status;
}
