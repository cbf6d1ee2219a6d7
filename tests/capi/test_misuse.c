/* What a host in C99 may get wrong: it is refused and named, and nothing breaks. */
#define _POSIX_C_SOURCE 200809L

#include <sys/wait.h>
#include <unistd.h>

#include "scripted_pool.h"

static void misuse(void) {
  evc_pool* pool = pool_of(NULL);
  evc_runtime* other = NULL;
  evc_pool* none = NULL;
  evc_backend* closed = NULL;
  evc_request* empty = evc_request_new();
  evc_backend_options* options = evc_backend_options_new();
  evc_error* error = NULL;
  evc_str broken;
  broken.data = "caf\xE9";
  broken.size = 4;

  check(evc_pool_submit(NULL, empty, 0, NULL, &error) == EVC_E_INVALID_ARGUMENT, "no pool");
  check(equal(evc_error_detail(error), "null") && has(evc_error_message(error), "evc_pool"),
        "and it says so");
  evc_error_free(error);
  check(evc_pool_submit(pool, NULL, 0, NULL, NULL) == EVC_E_INVALID_ARGUMENT, "no request");
  check(evc_pool_submit(pool, empty, 0, NULL, &error) == EVC_E_INVALID_ARGUMENT, "nothing asked");
  check(has(evc_error_message(error), "no message"), "and it says so");
  evc_error_free(error);
  check(evc_request_add_message(empty, EVC_ROLE_USER, broken) == EVC_E_INVALID_ARGUMENT, "what is no UTF-8");
  check(evc_request_add_messages(empty, broken, &error) == EVC_E_INVALID_ARGUMENT, "also as JSON");
  check(equal(evc_error_detail(error), "not_utf8"), "and it says so");
  evc_error_free(error);
  broken.data = NULL;
  check(evc_request_add_message(empty, EVC_ROLE_USER, broken) == EVC_E_INVALID_ARGUMENT,
        "a size without data");
  check(equal(evc_request_refusal(empty), "the message has a size but no data"), "and it says so");
  check(evc_request_add_message(empty, 77, str("x")) == EVC_E_INVALID_ARGUMENT, "an unknown role");
  check(equal(evc_request_refusal(empty), "there is no such role"), "also without an error");
  check(evc_request_set_tools(empty, str("{"), NULL) != EVC_OK && has(evc_request_refusal(empty), "JSON"),
        "also where an error would say it");
  check(evc_request_set_seed(empty, 7) == EVC_OK && evc_request_refusal(empty).size == 0,
        "of what is taken nothing is said");
  check(evc_request_set_temperature(empty, -0.5) == EVC_E_INVALID_ARGUMENT, "a negative temperature");
  check(evc_pool_poll(pool, 0, NULL) == EVC_E_INVALID_ARGUMENT, "no place for an event");
  check(evc_pool_poll(NULL, 0, NULL) == EVC_E_INVALID_ARGUMENT && evc_pool_event_fd(NULL) == -1, "no pool");
  check(evc_pool_new(runtime, NULL, 1, NULL, &none, NULL) == EVC_E_INVALID_ARGUMENT && none == NULL,
        "no endpoints");
  check(evc_runtime_new(NULL, NULL) == EVC_E_INVALID_ARGUMENT, "no place for a runtime");
  check(evc_runtime_new(&other, NULL) == EVC_OK, "a second runtime");
  check(evc_pool_new(other, &scripted, 1, NULL, &none, &error) == EVC_E_INVALID_ARGUMENT && none == NULL,
        "an endpoint of another runtime");
  evc_error_free(error);
  evc_runtime_free(other);

  check(evc_backend_open(runtime, str("scripted"), NULL, &closed, &error) == EVC_E_INVALID_ARGUMENT,
        "no script");
  check(has(evc_error_message(error), "script"), "and it says so");
  evc_error_free(error);
  check(evc_backend_options_set_api_key_header(options, str("cookie")) == EVC_E_INVALID_ARGUMENT,
        "no such header");
  check(evc_backend_options_set_connect_timeout_s(options, -1) == EVC_E_INVALID_ARGUMENT, "a negative time");
  check(evc_backend_options_set_slots(options, 0) == EVC_E_INVALID_ARGUMENT, "no slots");
  check(equal(evc_backend_options_refusal(options), "slots must be 1 to 256"),
        "and it says how many there may be");
  check(evc_backend_options_set_script(options, str(DATA "/script.jsonl")) == EVC_OK &&
            evc_backend_options_set_slots(options, 2) == EVC_OK,
        "two options");
  check(evc_backend_options_refusal(options).size == 0, "of what is taken nothing is said");
  check(evc_backend_open(runtime, str("scripted"), options, &closed, &error) == EVC_E_INVALID_ARGUMENT,
        "an option of another backend");
  check(has(evc_error_message(error), "slots"), "which is named");
  evc_error_free(error);
  check(evc_backend_open(runtime, str("no-such"), NULL, &closed, &error) == EVC_E_INVALID_ARGUMENT,
        "an unknown backend");
  check(has(evc_error_message(error), "openai-url"), "and the known are named");
  evc_error_free(error);
  evc_backend_options_free(options);

  check(evc_event_kind(NULL) == 0 && evc_event_reply(NULL) == NULL && evc_event_text(NULL).size == 0,
        "no event has nothing");
  check(evc_reply_text(NULL).size == 0 && evc_reply_tokens(NULL, EVC_TOKENS_PROMPT) == -1,
        "nor has no reply");
  check(evc_text_view(NULL).size == 0, "nor has no text");
  evc_pool_free(NULL);
  evc_event_free(NULL);
  evc_text_free(NULL);
  evc_backend_free(NULL);
  evc_backend_options_free(NULL);
  evc_pool_options_free(NULL);
  evc_request_free(NULL);
  evc_runtime_free(NULL);

  submit(pool, question("something wrong"), 0);
  {
    evc_event* event = next(pool, EVC_EVENT_END);
    /* A host in a language with finalizers may do this. */
    evc_error_free((evc_error*)(uintptr_t)evc_event_error(event));
    check(has(evc_error_message(evc_event_error(event)), "refuses"), "an event's error cannot be freed");
    evc_event_free(event);
  }
  evc_request_free(empty);
  evc_pool_free(pool);
}

/* A host that looks at what it was given, and not at the status, finds nothing. */
static void refused_handles_leave_nothing_behind(void) {
  char nothing = 0;
  void* const stale = &nothing;
  evc_event* event = (evc_event*)stale;
  evc_text* text = (evc_text*)stale;
  size_t count = 9;
  check(evc_run_poll(NULL, 0, &event) == EVC_E_INVALID_ARGUMENT && event == NULL, "no run, no event");
  event = (evc_event*)stale;
  check(evc_episodes_poll(NULL, 0, &event) == EVC_E_INVALID_ARGUMENT && event == NULL,
        "nor without episodes");
  event = (evc_event*)stale;
  check(evc_backend_poll(NULL, 0, &event) == EVC_E_INVALID_ARGUMENT && event == NULL,
        "nor without a backend");
  event = (evc_event*)stale;
  check(evc_backend_poll(scripted, 0, &event) == EVC_E_UNSUPPORTED && event == NULL, "nor from another kind");
  event = (evc_event*)stale;
  check(evc_pool_poll(NULL, 0, &event) == EVC_E_INVALID_ARGUMENT && event == NULL, "nor without a pool");
  check(evc_pool_poll_many(NULL, 0, &event, 1, &count) == EVC_E_INVALID_ARGUMENT && count == 0,
        "none of many");
  check(evc_episodes_finish(NULL, &text, NULL) == EVC_E_INVALID_ARGUMENT && text == NULL, "nor figures");
}

static void after_fork(void) {
  evc_pool* pool = pool_of(NULL);
  int status = 0;
  pid_t child;
  submit(pool, question("slow"), 0);
  child = fork();
  if (child == 0) {
    evc_event* event = NULL;
    evc_request* request = question("hi");
    evc_error* error = NULL;
    int wrong = evc_pool_poll(pool, -1, &event) != EVC_E_CLOSED;
    wrong |= evc_pool_submit(pool, request, 0, NULL, &error) != EVC_E_CLOSED;
    wrong |= !equal(evc_error_detail(error), "forked");
    wrong |= evc_pool_event_fd(pool) != -1;
    evc_pool_free(pool);
    evc_backend_free(scripted);
    evc_runtime_free(runtime);
    _exit(wrong);
  }
  check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "a forked child is refused, and may free");
  check(evc_pool_shutdown(pool, 1) == EVC_OK, "the parent goes on");
  evc_event_free(next(pool, EVC_EVENT_END));
  evc_pool_free(pool);
}

static void a_request_of_an_engine_says_why_it_refuses(void) {
  evc_engine_request* request = evc_engine_request_new();
  check(evc_engine_request_add_cache_cut(request, 3) == EVC_E_INVALID_ARGUMENT, "a cut without a key");
  check(has(evc_engine_request_refusal(request), "set_cache comes first"), "and it says so");
  check(evc_engine_request_set_controls(request, str("{\"chance\": 1}"), NULL) != EVC_OK &&
            has(evc_engine_request_refusal(request), "chance"),
        "an unknown control is named");
  check(evc_engine_request_set_max_tokens(request, 3) == EVC_OK &&
            evc_engine_request_refusal(request).size == 0,
        "of what is taken nothing is said");
  check(evc_request_refusal(NULL).size == 0 && evc_engine_request_refusal(NULL).size == 0, "nor of none");
  evc_engine_request_free(request);
}

static void every_kind_of_options_says_why_it_refuses(void) {
  evc_pool_options* pool = evc_pool_options_new();
  evc_run_options* run = evc_run_options_new();
  evc_episodes_options* episodes = evc_episodes_options_new();
  evc_engine_options* engine = evc_engine_options_new();
  check(evc_pool_options_set_concurrency(pool, 0) == EVC_E_INVALID_ARGUMENT, "no request in flight");
  check(equal(evc_pool_options_refusal(pool), "concurrency must be 1 to 10000"), "of a pool");
  check(evc_pool_options_set_max_outstanding(pool, 0) == EVC_E_INVALID_ARGUMENT, "room for nothing");
  check(equal(evc_pool_options_refusal(pool), "max_outstanding must be 1 or more"), "without an upper bound");
  check(evc_run_options_set_order(run, str("chance")) == EVC_E_INVALID_ARGUMENT, "no such order");
  check(equal(evc_run_options_refusal(run), "order is neither prefix nor suite"), "of a run");
  check(evc_run_options_set_params(run, str("[]"), NULL) != EVC_OK, "no parameters");
  check(evc_run_options_refusal(run).size > 0, "also where an error would say it");
  check(evc_episodes_options_set_max_cost(episodes, -1) == EVC_E_INVALID_ARGUMENT, "a negative cost");
  check(has(evc_episodes_options_refusal(episodes), "max_cost must be 0"), "of episodes");
  check(evc_engine_options_set_threads(engine, 0) == EVC_E_INVALID_ARGUMENT, "no thread");
  check(equal(evc_engine_options_refusal(engine), "threads must be 1 or more"), "of an engine");
  check(evc_engine_options_set_max_batch_size(engine, 0) == EVC_E_INVALID_ARGUMENT, "no batch");
  check(has(evc_engine_options_refusal(engine), "max_batch_size"), "by the engine's own rules");
  check(evc_pool_options_refusal(NULL).size == 0, "of none there is none");
  evc_pool_options_free(pool);
  evc_run_options_free(run);
  evc_episodes_options_free(episodes);
  evc_engine_options_free(engine);
}

int main(void) {
  open_script();
  if (failures > 0) return verdict();
  misuse();
  refused_handles_leave_nothing_behind();
  a_request_of_an_engine_says_why_it_refuses();
  every_kind_of_options_says_why_it_refuses();
  after_fork();
  close_script();
  return verdict();
}
