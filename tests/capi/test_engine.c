/* A host in C99 that gives evalcore a model runtime of its own and asks it questions. */
#define _POSIX_C_SOURCE 200809L

#include "host.h"
#include "toy_engine.h"
#include "wakeup.h"

/* What came of one request. */
typedef struct outcome {
  char text[4096];
  char json[4096];
  int tokens;
  int progress;
  int ends;
  evc_status status;
  char detail[64];
} outcome;

static void append(char* to, evc_str text) {
  const size_t length = strlen(to);
  if (text.size > 0) memcpy(to + length, text.data, text.size);
  to[length + text.size] = 0;
}

/* Polls until so many requests have ended. Tags are indices of `all`. */
static void poll_until(evc_engine* engine, outcome* all, int ends) {
  while (ends > 0) {
    evc_engine_event* event = NULL;
    outcome* one;
    if (evc_engine_poll(engine, 20000, &event) != EVC_OK) {
      check(0, "an event comes in time");
      return;
    }
    one = &all[evc_engine_event_tag(event)];
    check(one->ends == 0, "nothing follows the end");
    append(one->text, evc_engine_event_text(event));
    switch (evc_engine_event_kind(event)) {
      case EVC_ENGINE_EVENT_TOKEN:
        ++one->tokens;
        check(evc_engine_event_token(event) > 0, "a token has its id");
        break;
      case EVC_ENGINE_EVENT_PROGRESS:
        ++one->progress;
        check(has(evc_engine_event_json(event), "\"kind\":\"llm\""), "progress is a phase event");
        if (one->progress == 1) {
          check(has(evc_engine_event_json(event), "\"phase\":\"prefill\""), "the prefill comes first");
        }
        strcpy(one->json, "");
        append(one->json, evc_engine_event_json(event));
        break;
      case EVC_ENGINE_EVENT_END:
        --ends;
        ++one->ends;
        if (one->progress > 0)
          check(strstr(one->json, "\"final\":true") != NULL, "progress ends before the end");
        strcpy(one->json, "");
        append(one->json, evc_engine_event_json(event));
        one->status = evc_error_status(evc_engine_event_error(event));
        append(one->detail, evc_error_detail(evc_engine_event_error(event)));
        break;
      default:
        check(0, "there are three kinds of events");
    }
    evc_engine_event_free(event);
  }
}

/* What the toy must answer, from its rule alone. */
static void expected(const char* prompt, size_t most, char* answer) {
  uint64_t hash = 0;
  size_t size = 0;
  for (; *prompt != 0; ++prompt) hash = toy_hash(hash, (uint8_t)*prompt);
  while (size < most && toy_next(hash) != 0) {
    answer[size] = (char)toy_next(hash);
    hash = toy_hash(hash, (uint8_t)answer[size++]);
  }
  answer[size] = 0;
}

static evc_engine_request* ask(const char* prompt, uint32_t max_tokens) {
  evc_engine_request* request = evc_engine_request_new();
  check(evc_engine_request_set_prompt(request, str(prompt), 1) == EVC_OK, "a prompt is taken");
  check(evc_engine_request_set_max_tokens(request, max_tokens) == EVC_OK, "a bound is taken");
  return request;
}

static void submit(evc_engine* engine, evc_engine_request* request, uint64_t tag) {
  uint64_t ticket = 0;
  check(evc_engine_submit(engine, request, tag, &ticket, NULL) == EVC_OK && ticket != 0,
        "a request is taken");
  evc_engine_request_free(request);
}

static const char* const prompts[] = {"The first of many questions", "What is the second?",
                                      "Here comes the third one", "And at last, number four"};

static void a_model_that_is_not_there(void) {
  evc_engine* engine = NULL;
  evc_error* error = NULL;
  evc_engine_options* options = evc_engine_options_new();
  static toy_engine toy;
  const evc_step_engine_table table = toy_table();
  evc_status status = evc_engine_open(str("/missing/model.gguf"), NULL, &engine, &error);
  check(status == EVC_E_NOT_FOUND || status == EVC_E_UNSUPPORTED, "a model must be there, and llama.cpp");
  check(engine == NULL && evc_error_message(error).size > 0, "or it is said what is missing");
  evc_error_free(error);
  check(evc_engine_open(str("\xff"), NULL, &engine, NULL) == EVC_E_INVALID_ARGUMENT, "a path is a text");
  check(evc_engine_options_set_context_tokens(options, 0) == EVC_E_INVALID_ARGUMENT,
        "a context holds tokens");
  check(evc_engine_options_set_threads(options, 0) == EVC_E_INVALID_ARGUMENT, "somebody computes");
  check(evc_engine_options_set_evaluation(options, str("exact")) == EVC_E_INVALID_ARGUMENT, "in a known way");
  check(evc_engine_options_set_evaluation(options, str("fast")) == EVC_OK, "such as this");
  check(evc_engine_new_table(&table, &toy, options, &engine, &error) == EVC_E_INVALID_ARGUMENT,
        "which a table has no use for");
  check(has(evc_error_message(error), "evaluation") && toy.destroys == 0,
        "by name, and its context left alone");
  evc_error_free(error);
  evc_engine_options_free(options);
}

/* Bytes that are no text, and sizes without data. */
static void no_text(void) {
  evc_engine_request* request = evc_engine_request_new();
  evc_error* error = NULL;
  evc_str nothing;
  evc_tokens none;
  nothing.data = NULL;
  nothing.size = 3;
  none.data = NULL;
  none.size = 3;
  check(evc_engine_request_set_prompt(request, nothing, 1) == EVC_E_INVALID_ARGUMENT, "a prompt has data");
  check(evc_engine_request_set_prompt(request, str("\xff"), 0) == EVC_E_INVALID_ARGUMENT, "that is a text");
  check(evc_engine_request_set_prompt_tokens(request, none) == EVC_E_INVALID_ARGUMENT, "so have tokens");
  check(evc_engine_request_add_continuation(request, none) == EVC_E_INVALID_ARGUMENT, "and continuations");
  check(evc_engine_request_add_stop(request, nothing) == EVC_E_INVALID_ARGUMENT, "and stops");
  check(evc_engine_request_set_cache(request, nothing, str("k")) == EVC_E_INVALID_ARGUMENT, "and scopes");
  check(evc_engine_request_set_controls(request, nothing, NULL) == EVC_E_INVALID_ARGUMENT, "and controls");
  check(evc_engine_request_set_messages(request, str("[{}]"), &error) == EVC_E_INVALID_REQUEST, "and turns");
  check(evc_error_message(error).size > 0, "which says what is wrong");
  evc_error_free(error);
  evc_engine_request_free(request);
}

static void many_at_once(evc_engine* engine) {
  static outcome all[16];
  char wanted[64];
  uint64_t i;
  memset(all, 0, sizeof all);
  for (i = 0; i < 16; ++i) submit(engine, ask(prompts[i % 4], 20), i);
  poll_until(engine, all, 16);
  for (i = 0; i < 16; ++i) {
    expected(prompts[i % 4], 20, wanted);
    check(strcmp(all[i].text, wanted) == 0, "each answer is that of its prompt");
    check(all[i].tokens == (int)strlen(wanted), "each token is an event");
    check(strstr(all[i].json, "\"mode\":\"continuous\"") != NULL, "greedy requests run together");
    check(all[i].progress == 0, "nobody asked for progress");
  }
}

static void shared_prefix(evc_engine* engine, toy_engine* toy) {
  static outcome all[3];
  const char* const questions[] = {"A long beginning that all of them share: one",
                                   "A long beginning that all of them share: two",
                                   "A long beginning that all of them share: six"};
  char wanted[64];
  uint64_t i;
  uint64_t before = toy->fed;
  memset(all, 0, sizeof all);
  for (i = 0; i < 3; ++i) {
    evc_engine_request* request = ask(questions[i], 8);
    check(evc_engine_request_set_cache(request, str("local"), str("exam")) == EVC_OK, "a key is taken");
    check(evc_engine_request_add_cache_cut(request, 41) == EVC_OK, "a cut is taken");
    check(evc_engine_request_set_progress(request, 1) == EVC_OK, "progress is taken");
    submit(engine, request, i);
  }
  poll_until(engine, all, 3);
  check(toy->fed - before == 41 + 3 * 3, "the shared prefix is computed once");
  for (i = 0; i < 3; ++i) {
    expected(questions[i], 8, wanted);
    check(strcmp(all[i].text, wanted) == 0, "a restored prefix changes no answer");
    check(all[i].progress >= 2, "progress has a beginning and an end");
  }
  check(strstr(all[0].json, "\"outcome\":\"cold\"") != NULL, "the first finds nothing");
  check(strstr(all[2].json, "\"cached_input_tokens\":41") != NULL, "the last finds the prefix");
}

static void stop_and_controls(evc_engine* engine) {
  static outcome all[2];
  char wanted[64];
  char stop[3];
  evc_error* error = NULL;
  evc_engine_request* request = ask(prompts[0], 20);
  memset(all, 0, sizeof all);
  expected(prompts[0], 20, wanted);
  check(strlen(wanted) > 6, "the answer is long enough to be cut");
  memcpy(stop, wanted + 4, 2);
  stop[2] = 0;
  check(evc_engine_request_add_stop(request, str(stop)) == EVC_OK, "a stop string is taken");
  submit(engine, request, 0);
  poll_until(engine, all, 1);
  *strstr(wanted, stop) = 0;
  check(strcmp(all[0].text, wanted) == 0, "the answer ends before the stop string");
  check(strstr(all[0].json, "\"finish_reason\":\"stop\"") != NULL, "and says so");

  request = ask(prompts[0], 20);
  check(
      evc_engine_request_set_controls(request, str("{\"temperature\": 1}"), &error) == EVC_E_INVALID_REQUEST,
      "a control with a setter of its own is refused");
  check(has(evc_error_detail(error), "invalid_controls"), "with the word for it");
  check(has(evc_error_message(error), "temperature"), "and its name");
  evc_error_free(error);
  check(evc_engine_request_set_controls(request, str("{\"min_p\": 0.1}"), NULL) == EVC_OK,
        "min_p is a control");
  check(evc_engine_request_add_cache_cut(request, 5) == EVC_E_INVALID_ARGUMENT, "a cut needs a key");
  check(evc_engine_request_set_max_tokens(request, 0) == EVC_OK, "values are checked later");
  check(evc_engine_submit(engine, request, 1, NULL, &error) == EVC_E_INVALID_REQUEST, "at submission");
  check(evc_error_http_status(error) == 400 && !evc_error_is_retryable(error), "as a bad request");
  evc_error_free(error);
  evc_engine_request_free(request);
}

static void scores(evc_engine* engine) {
  static outcome all[1];
  int32_t tokens[2] = {'n', 'o'};
  evc_tokens no;
  evc_engine_request* request = ask(prompts[1], 1);
  memset(all, 0, sizeof all);
  no.data = tokens;
  no.size = 2;
  check(evc_engine_request_add_continuation(request, no) == EVC_OK, "a continuation is taken");
  submit(engine, request, 0);
  poll_until(engine, all, 1);
  check(strstr(all[0].json, "\"scores\":[{\"sum_logprob\":-1.0,\"is_greedy\":false}]") != NULL,
        "and is scored");
}

static void cancel_and_poll(evc_engine* engine) {
  static outcome all[2];
  evc_engine_event* event = NULL;
  uint64_t ticket = 0;
  evc_engine_request* request = ask(prompts[2], 1);
  memset(all, 0, sizeof all);
  check(evc_engine_poll(engine, 0, &event) == EVC_E_TIMEOUT && event == NULL, "no event without a request");
  check(evc_engine_submit(engine, request, 0, &ticket, NULL) == EVC_OK, "a request is taken");
  evc_engine_cancel(engine, ticket);
  evc_engine_cancel(engine, ticket);
  evc_engine_cancel(engine, 123456);
  poll_until(engine, all, 1);
  check(all[0].ends == 1, "a cancelled request ends once");
  check(all[0].status == EVC_E_CANCELLED || all[0].status == EVC_OK, "as cancelled, unless it was done");
  evc_engine_request_free(request);
}

static void broken(evc_engine* engine, toy_engine* toy) {
  static outcome all[1];
  memset(all, 0, sizeof all);
  toy->failing = 1;
  submit(engine, ask(prompts[3], 5), 0);
  poll_until(engine, all, 1);
  check(all[0].status == EVC_E_BACKEND_FAULT, "a broken engine is a backend fault");
  toy->failing = 0;
  memset(all, 0, sizeof all);
  submit(engine, ask(prompts[3], 5), 0);
  poll_until(engine, all, 1);
  check(all[0].status == EVC_OK, "and may work again");
}

static void waiting_for_events(evc_engine* engine) {
  static outcome all[1];
  evc_engine_event* event = NULL;
  int hooked[2];
  const int fd = evc_engine_event_fd(engine);
  memset(all, 0, sizeof all);
  while (evc_engine_poll(engine, 0, &event) == EVC_OK) evc_engine_event_free(event);
  check(fd >= 0 && !readable(fd, 0), "without events the descriptor is not readable");
  check(pipe(hooked) == 0, "the hook has a pipe");
  check(evc_engine_set_wakeup(engine, write_a_byte, &hooked[1]) == EVC_OK, "a hook is taken");
  submit(engine, ask(prompts[0], 3), 0);
  check(readable(hooked[0], 20000), "and called for the first event");
  check(readable(fd, 20000), "and the descriptor readable");
  poll_until(engine, all, 1);
  while (evc_engine_poll(engine, 0, &event) == EVC_OK) evc_engine_event_free(event);
  check(!readable(fd, 0), "until there are no more");
  check(evc_engine_wake(engine) == EVC_OK, "a host wakes its poll");
  check(evc_engine_poll(engine, -1, &event) == EVC_E_TIMEOUT && event == NULL, "which returns with nothing");
  check(evc_engine_set_wakeup(engine, NULL, NULL) == EVC_OK, "a hook is taken away");
  close(hooked[0]);
  close(hooked[1]);
}

int main(void) {
  static toy_engine toy;
  evc_step_engine_table table = toy_table();
  evc_engine_options* options = evc_engine_options_new();
  evc_engine* engine = NULL;
  evc_error* error = NULL;

  a_model_that_is_not_there();
  no_text();
  table.open = NULL;
  check(evc_engine_new_table(&table, &toy, NULL, &engine, &error) == EVC_E_INVALID_ARGUMENT && engine == NULL,
        "a table without a function is refused");
  check(has(evc_error_message(error), "open"), "with the name of the function");
  evc_error_free(error);
  check(toy.destroys == 0, "and its context left alone");

  table = toy_table();
  check(evc_engine_options_set_max_batch_size(options, 0) == EVC_E_INVALID_ARGUMENT, "no batch of nothing");
  check(evc_engine_options_set_queue_timeout_s(options, -1.0) == EVC_E_INVALID_ARGUMENT, "no negative wait");
  check(evc_engine_options_set_cache_max_bytes(options, 0) == EVC_E_INVALID_ARGUMENT, "no cache of nothing");
  check(evc_engine_options_set_max_batch_size(options, 4) == EVC_OK, "four at once");
  check(evc_engine_options_set_batch_wait_ms(options, 0) == EVC_OK, "no wait for company");
  check(evc_engine_new_table(&table, &toy, options, &engine, NULL) == EVC_OK, "the engine starts");
  evc_engine_options_free(options);
  if (engine == NULL) return 1;

  many_at_once(engine);
  shared_prefix(engine, &toy);
  stop_and_controls(engine);
  scores(engine);
  waiting_for_events(engine);
  cancel_and_poll(engine);
  broken(engine, &toy);

  submit(engine, ask(prompts[0], 3), 0);
  evc_engine_free(engine);
  check(toy.starts == 1 && toy.destroys == 1, "the engine was started and destroyed once");
  check(toy.snapshots == 0, "no snapshot outlives it");

  evc_engine_free(NULL);
  evc_engine_options_free(NULL);
  evc_engine_request_free(NULL);
  evc_engine_event_free(NULL);
  evc_error_free(NULL);
  return verdict();
}
