/* A host in C99 that plays the backend and asks it through a pool. */
#include "host.h"

static evc_runtime* runtime = NULL;
static evc_backend* played = NULL;
static evc_pool* pool = NULL;

static void submit(const char* text, uint64_t tag, uint64_t* ticket) {
  evc_request* request = evc_request_new();
  check(evc_request_add_message(request, EVC_ROLE_USER, str(text)) == EVC_OK, "a message is taken");
  check(evc_request_set_stream(request, 1) == EVC_OK, "text is asked for");
  check(evc_request_set_max_tokens(request, 9) == EVC_OK, "a bound is taken");
  check(evc_pool_submit(pool, request, tag, ticket, NULL) == EVC_OK, "a request is taken");
  evc_request_free(request);
}

static evc_event* asked(int32_t kind) {
  evc_event* event = NULL;
  check(evc_backend_poll(played, 20000, &event) == EVC_OK, "the host hears in time");
  check(evc_event_kind(event) == kind, "what it should");
  return event;
}

static evc_event* next(int32_t kind) {
  evc_event* event = NULL;
  check(evc_pool_poll(pool, 20000, &event) == EVC_OK, "an event comes in time");
  check(evc_event_kind(event) == kind, "it is of the expected kind");
  return event;
}

static uint64_t ticket_of(evc_event* event) {
  const uint64_t ticket = evc_event_ticket(event);
  evc_event_free(event);
  return ticket;
}

static void answered(void) {
  evc_event* event;
  uint64_t ticket;
  evc_error* error = NULL;
  submit("What is it?", 1, NULL);
  event = asked(EVC_EVENT_ASKED);
  check(has(evc_event_json(event), "{\"role\":\"user\",\"content\":\"What is it?\"}"),
        "it is asked the question");
  check(has(evc_event_json(event), "\"max_tokens\":9"), "with its bound");
  ticket = ticket_of(event);
  check(ticket > 0, "and a ticket");
  check(evc_backend_answer(played, ticket, str("{\"no\": \"choices\"}"), &error) == EVC_E_BAD_REPLY,
        "what is no completion is refused");
  evc_error_free(error);
  check(evc_backend_tell_text(played, ticket, str("It is ")) == EVC_OK, "text is told");
  event = next(EVC_EVENT_TEXT);
  check(equal(evc_event_text(event), "It is ") && evc_event_tag(event) == 1, "and comes through");
  evc_event_free(event);
  check(evc_backend_answer(
            played, ticket,
            str("{\"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"It is so\"}, "
                "\"finish_reason\": \"stop\"}], \"usage\": {\"prompt_tokens\": 4, "
                "\"completion_tokens\": 3}}"),
            NULL) == EVC_OK,
        "a completion is taken");
  check(evc_backend_answer(
            played, ticket,
            str("{\"choices\": [{\"message\": {\"content\": \"x\"}, \"finish_reason\": \"stop\"}]}"),
            NULL) == EVC_OK,
        "a second answer is ignored");
  event = next(EVC_EVENT_END);
  check(equal(evc_reply_text(evc_event_reply(event)), "It is so"), "the answer is the host's");
  check(evc_reply_tokens(evc_event_reply(event), EVC_TOKENS_PROMPT) == 4, "and so are the counts");
  check(evc_reply_tokens(evc_event_reply(event), EVC_TOKENS_CACHED) == -1,
        "what it does not tell is unknown");
  check(evc_reply_first_token_s(evc_event_reply(event)) >= 0, "the first token was seen");
  evc_event_free(event);
}

static void failed_and_asked_again(void) {
  evc_event* event;
  uint64_t ticket;
  submit("Again?", 2, NULL);
  ticket = ticket_of(asked(EVC_EVENT_ASKED));
  check(evc_backend_fail(played, ticket, EVC_OK, str("fine")) == EVC_E_INVALID_ARGUMENT,
        "success is no failure");
  check(evc_backend_fail(played, ticket, EVC_E_OVERLOADED, str("busy now")) == EVC_OK, "a failure is taken");
  event = next(EVC_EVENT_RETRYING);
  check(has(evc_error_message(evc_event_error(event)), "busy now"), "with its message");
  evc_event_free(event);
  ticket = ticket_of(asked(EVC_EVENT_ASKED));
  check(evc_backend_fail(played, ticket, EVC_E_CONTEXT_OVERFLOW, str("too long")) == EVC_OK, "another");
  event = next(EVC_EVENT_END);
  check(evc_error_status(evc_event_error(event)) == EVC_E_CONTEXT_OVERFLOW, "this one is final");
  evc_event_free(event);
}

static void withdrawn(void) {
  uint64_t in_pool = 0;
  uint64_t ticket;
  evc_event* event;
  submit("Never mind", 3, &in_pool);
  ticket = ticket_of(asked(EVC_EVENT_ASKED));
  check(evc_pool_cancel(pool, in_pool) == EVC_OK, "it is cancelled");
  check(ticket_of(asked(EVC_EVENT_WITHDRAWN)) == ticket, "the host hears which");
  event = next(EVC_EVENT_END);
  check(evc_error_status(evc_event_error(event)) == EVC_E_CANCELLED, "and it has ended");
  evc_event_free(event);
  check(evc_backend_tell_text(played, ticket, str("late")) == EVC_OK, "what comes late is ignored");
}

static void another_kind_of_backend(void) {
  evc_backend* scripted = NULL;
  evc_backend_options* options = evc_backend_options_new();
  evc_event* event = NULL;
  evc_error* error = NULL;
  check(evc_backend_options_set_script(options, str(DATA "/script.jsonl")) == EVC_OK, "a script is taken");
  check(evc_backend_open(runtime, str("scripted"), options, &scripted, NULL) == EVC_OK, "and opened");
  check(evc_backend_poll(scripted, 0, &event) == EVC_E_UNSUPPORTED, "nobody plays it");
  check(evc_backend_answer(scripted, 1, str("{}"), &error) == EVC_E_UNSUPPORTED, "nor answers it");
  check(has(evc_error_message(error), "scripted"), "which is named");
  evc_error_free(error);
  check(evc_backend_event_fd(scripted) == -1, "it has no descriptor");
  evc_backend_options_free(options);
  evc_backend_free(scripted);
}

static void the_host_leaves(void) {
  evc_event* event;
  submit("Anybody?", 4, NULL);
  ticket_of(asked(EVC_EVENT_ASKED));
  evc_backend_free(played);
  event = next(EVC_EVENT_END);
  check(evc_error_status(evc_event_error(event)) == EVC_E_CLOSED, "what was asked ends");
  evc_event_free(event);
  submit("Nobody?", 5, NULL);
  event = next(EVC_EVENT_END);
  check(evc_error_status(evc_event_error(event)) == EVC_E_CLOSED, "and so does what is asked later");
  evc_event_free(event);
}

int main(void) {
  evc_backend* none = NULL;
  check(evc_runtime_new(&runtime, NULL) == EVC_OK, "a runtime starts");
  check(evc_backend_new_host(runtime, str(""), str(""), &none, NULL) == EVC_E_INVALID_ARGUMENT, "no model");
  check(evc_backend_new_host(runtime, str("m"), str("[1]"), &none, NULL) == EVC_E_INVALID_ARGUMENT, "a list");
  check(evc_backend_new_host(runtime, str("m"), str("{\"v\": 1}"), &none, NULL) == EVC_E_INVALID_ARGUMENT,
        "a number");
  check(none == NULL, "none was made");
  check(evc_backend_new_host(runtime, str("mine"), str("{\"version\": \"3\"}"), &played, NULL) == EVC_OK,
        "one is");
  check(evc_pool_new(runtime, &played, 1, NULL, &pool, NULL) == EVC_OK, "and a pool on it");
  if (failures > 0) return verdict();
  answered();
  failed_and_asked_again();
  withdrawn();
  another_kind_of_backend();
  the_host_leaves();
  evc_pool_free(pool);
  evc_runtime_free(runtime);
  return verdict();
}
