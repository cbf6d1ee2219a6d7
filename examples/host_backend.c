/* A backend of one's own, in C: the host answers what a pool asks.
 *
 *   host_backend QUESTION...
 *
 * The model here is a parrot. In the place of `speak` a host would run a model that evalcore cannot reach by
 * itself. Pools, suites and episodes take such a backend as any other.
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

/* The last turn's text as it stands in the request, its JSON escapes and all. A host has a JSON library for
 * this; here the last "content" is looked for by hand. */
static evc_str last_turn(evc_str request) {
  static const char key[] = "\"content\":\"";
  const size_t length = sizeof key - 1;
  evc_str found = {"", 0};
  size_t at;
  for (at = 0; at + length <= request.size; ++at) {
    if (memcmp(request.data + at, key, length) != 0) continue;
    found.data = request.data + at + length;
    for (found.size = 0; found.data[found.size] != '"'; ++found.size) {
      if (found.data[found.size] == '\\') ++found.size; /* What is escaped is no end. */
    }
  }
  return found;
}

/* The answer has the form of a chat completion. What is not known, such as token counts, is left out. */
static evc_status speak(evc_backend* backend, const evc_event* asked, evc_error** error) {
  char completion[4096];
  const evc_str words = last_turn(evc_event_json(asked));
  const int size =
      snprintf(completion, sizeof completion,
               "{\"choices\": [{\"message\": {\"content\": \"%.*s, squawk\"}, \"finish_reason\": \"stop\"}]}",
               (int)words.size, words.data);
  if (size < 0 || (size_t)size >= sizeof completion) {
    /* A failure is told as one, and says whether to ask again. It never becomes an answer. */
    return evc_backend_fail(backend, evc_event_ticket(asked), EVC_E_CONTEXT_OVERFLOW, str("too long a text"));
  }
  return evc_backend_answer(backend, evc_event_ticket(asked), str(completion), error);
}

static evc_status submit(evc_pool* pool, const char* text, uint64_t tag, evc_error** error) {
  evc_request* request = evc_request_new();
  evc_status status;
  evc_request_add_message(request, EVC_ROLE_USER, str(text));
  status = evc_pool_submit(pool, request, tag, NULL, error);
  evc_request_free(request);
  return status;
}

int main(int count, char** words) {
  evc_runtime* runtime = NULL;
  evc_backend* backend = NULL;
  evc_pool* pool = NULL;
  evc_error* error = NULL;
  evc_event* event = NULL;
  int i;
  if (evc_runtime_new(&runtime, &error) != EVC_OK) return failed("cannot start", error);
  /* The identity says what an answer depends on: a store gives its replies again only for the same. */
  if (evc_backend_new_host(runtime, str("parrot"), str("{\"version\": \"1\"}"), &backend, &error) != EVC_OK) {
    return failed("no backend", error);
  }
  if (evc_pool_new(runtime, &backend, 1, NULL, &pool, &error) != EVC_OK) return failed("no pool", error);
  for (i = 1; i < count; ++i) {
    if (submit(pool, words[i], (uint64_t)i, &error) != EVC_OK) return failed(words[i], error);
  }

  /* One question at a time and on one thread, to be short: any thread may answer, in any order. */
  for (i = 1; i < count;) {
    if (evc_backend_poll(backend, -1, &event) != EVC_OK) return failed("nothing is asked", NULL);
    if (evc_event_kind(event) == EVC_EVENT_ASKED) {
      if (speak(backend, event, &error) != EVC_OK) return failed("no answer", error);
      ++i;
    }
    evc_event_free(event);
  }
  evc_pool_shutdown(pool, 0);
  while (evc_pool_poll(pool, -1, &event) == EVC_OK) {
    if (evc_event_kind(event) == EVC_EVENT_END) {
      const evc_reply* reply = evc_event_reply(event);
      const evc_str text = reply != NULL ? evc_reply_text(reply) : evc_error_message(evc_event_error(event));
      printf("%s %s %.*s\n", words[evc_event_tag(event)], reply != NULL ? "->" : "failed:", (int)text.size,
             text.data);
    }
    evc_event_free(event);
  }
  evc_pool_free(pool);
  evc_backend_free(backend);
  evc_runtime_free(runtime);
  return 0;
}
