/* A host in C99 that asks a pool questions: what it is given, and that each request ends once. */
#define _POSIX_C_SOURCE 200809L

#include "scripted_pool.h"
#include "wakeup.h"

static void one_reply(void) {
  evc_pool* pool = pool_of(NULL);
  const evc_reply* reply;
  evc_event* event;
  const uint64_t ticket = submit(pool, question("please count"), 42);
  event = next(pool, EVC_EVENT_END);
  reply = evc_event_reply(event);
  check(evc_event_tag(event) == 42 && evc_event_ticket(event) == ticket, "an event tells whose it is");
  check(evc_event_error(event) == NULL, "an answer has no error");
  check(equal(evc_reply_text(reply), "counted"), "the text is the script's");
  check(evc_reply_text(reply).size > 0 && evc_reply_reasoning(reply).size == 0, "there is no reasoning");
  check(equal(evc_reply_tool_calls(reply), "[]"), "there are no calls");
  check(evc_reply_finish_reason(reply) == EVC_FINISH_STOP, "it ended by itself");
  check(evc_reply_tokens(reply, EVC_TOKENS_PROMPT) == 12, "the prompt is counted");
  check(evc_reply_tokens(reply, EVC_TOKENS_CACHED) == 0, "none cached is known");
  check(evc_reply_tokens(reply, EVC_TOKENS_COMPLETION) == 3, "the answer is counted");
  check(evc_reply_tokens(reply, EVC_TOKENS_REASONING) == -1, "what is not told is not 0");
  check(evc_reply_tokens(reply, 99) == -1, "an unknown class is not told");
  check(evc_reply_first_token_s(reply) >= 0 && evc_reply_total_s(reply) >= evc_reply_first_token_s(reply),
        "times are measured");
  check(evc_reply_score_count(reply) == 0 && evc_reply_is_greedy(reply, 0) == -1, "nothing was scored");
  check(has(evc_reply_json(reply), "\"cached_tokens\":0,\"completion_tokens\":3,\"reasoning_tokens\":null"),
        "the JSON tells the same");
  evc_event_free(event);

  submit(pool, question("please call"), 1);
  event = next(pool, EVC_EVENT_END);
  reply = evc_event_reply(event);
  check(evc_reply_finish_reason(reply) == EVC_FINISH_TOOL_CALLS, "it calls");
  check(has(evc_reply_tool_calls(reply),
            "\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"look_up\""),
        "a call is as OpenAI's API has it");
  check(has(evc_reply_tool_calls(reply), "\\\"order\\\""), "arguments are JSON text");
  evc_event_free(event);

  submit(pool, question("something wrong"), 2);
  event = next(pool, EVC_EVENT_END);
  check(evc_event_reply(event) == NULL, "a failure has no reply");
  check(evc_error_status(evc_event_error(event)) == EVC_E_INVALID_REQUEST, "it has a class");
  check(has(evc_error_message(evc_event_error(event)), "the script refuses"), "and a message");
  check(!evc_error_is_retryable(evc_event_error(event)), "and is not worth another attempt");
  evc_event_free(event);
  evc_pool_free(pool);
}

static void a_thousand(void) {
  enum { COUNT = 1000 };
  static unsigned char ended[COUNT];
  evc_pool* pool = pool_of_concurrency(16);
  evc_event* events[32];
  evc_text* figures = NULL;
  size_t count = 0;
  size_t left = COUNT;
  size_t i;
  memset(ended, 0, sizeof ended);
  for (i = 0; i < COUNT; ++i) submit(pool, question(i % 7 == 0 ? "something wrong" : "hi"), i);
  check(evc_pool_set_concurrency(pool, 4) == EVC_OK, "the concurrency changes meanwhile");
  check(evc_pool_set_concurrency(pool, 0) == EVC_E_INVALID_ARGUMENT, "but not to nothing");
  check(evc_pool_shutdown(pool, 0) == EVC_OK, "nothing more is accepted");
  while (evc_pool_poll_many(pool, 20000, events, 32, &count) == EVC_OK) {
    check(count >= 1 && count <= 32, "as many as there is room for");
    for (i = 0; i < count; ++i) {
      if (evc_event_kind(events[i]) == EVC_EVENT_DRAINED) {
        check(left == 0, "DRAINED comes last");
        check(evc_event_error(events[i]) == NULL, "and without an error, as the host asked for it");
      } else {
        const uint64_t tag = evc_event_tag(events[i]);
        check(evc_event_kind(events[i]) == EVC_EVENT_END && tag < COUNT, "the rest are ends");
        check(++ended[tag] == 1, "each request ends once");
        check((evc_event_error(events[i]) != NULL) == (tag % 7 == 0), "with what was asked for");
        --left;
      }
      evc_event_free(events[i]);
    }
  }
  check(left == 0, "all have ended");
  check(evc_pool_poll(pool, 0, events) == EVC_E_CLOSED && events[0] == NULL, "after DRAINED it is closed");
  check(evc_pool_figures(pool, &figures, NULL) == EVC_OK, "figures can be read then, too");
  check(has(evc_text_view(figures), "\"limit\":4"), "with the limit that was set last");
  check(has(evc_text_view(figures), "\"sent\":1000,\"answered\":857,\"failed\":143"), "and all attempts");
  evc_text_free(figures);
  evc_pool_free(pool);
}

static void cancelled_in_flight_and_waiting(void) {
  evc_pool* pool = pool_of_concurrency(1);
  const uint64_t first = submit(pool, question("slow one"), 1);
  const uint64_t second = submit(pool, question("slow two"), 2);
  evc_event* event = NULL;
  check(evc_pool_poll(pool, 0, &event) == EVC_E_TIMEOUT && event == NULL, "nothing has ended");
  check(evc_pool_cancel(pool, second) == EVC_OK, "one that waits is cancelled");
  event = next(pool, EVC_EVENT_END);
  check(evc_event_tag(event) == 2, "it ends although the one before it does not");
  check(evc_error_status(evc_event_error(event)) == EVC_E_CANCELLED, "as cancelled");
  evc_event_free(event);
  check(evc_pool_cancel(pool, first) == EVC_OK && evc_pool_cancel(pool, first) == EVC_OK, "twice is fine");
  check(evc_pool_cancel(pool, 123456) == EVC_OK, "and so is what never was");
  event = next(pool, EVC_EVENT_END);
  check(evc_event_tag(event) == 1, "one that is out ends");
  check(evc_error_status(evc_event_error(event)) == EVC_E_CANCELLED, "as cancelled");
  evc_event_free(event);
  check(evc_pool_poll(pool, 0, &event) == EVC_E_TIMEOUT, "and nothing ends twice");
  evc_pool_free(pool);
}

static void shut_down_at_once(void) {
  evc_pool* pool = pool_of_concurrency(2);
  evc_request* late = question("hi");
  evc_error* error = NULL;
  evc_event* event;
  int i;
  for (i = 0; i < 5; ++i) submit(pool, question("slow"), (uint64_t)i);
  check(evc_pool_shutdown(pool, 0) == EVC_OK && evc_pool_shutdown(pool, 1) == EVC_OK, "first so, then so");
  check(evc_pool_submit(pool, late, 9, NULL, &error) == EVC_E_CLOSED, "nothing more is accepted");
  check(evc_error_status(error) == EVC_E_CLOSED, "and the error says it");
  evc_error_free(error);
  evc_request_free(late);
  for (i = 0; i < 5; ++i) {
    event = next(pool, EVC_EVENT_END);
    check(evc_error_status(evc_event_error(event)) == EVC_E_CANCELLED, "what was accepted is cancelled");
    evc_event_free(event);
  }
  evc_event_free(next(pool, EVC_EVENT_DRAINED));
  check(evc_pool_poll(pool, -1, &event) == EVC_E_CLOSED, "a wait without end ends");
  evc_pool_free(pool);
}

static void stops_by_itself(void) {
  evc_pool_options* options = evc_pool_options_new();
  evc_pool* pool;
  evc_event* event;
  uint64_t first;
  int i;
  check(evc_pool_options_set_max_errors(options, 0) == EVC_OK, "no failure is allowed");
  check(evc_pool_options_set_concurrency(options, 1) == EVC_OK, "one at a time");
  pool = pool_of(options);
  first = submit(pool, question("slow"), 0);
  submit(pool, question("something wrong"), 1);
  for (i = 2; i < 600; ++i) submit(pool, question("hi"), (uint64_t)i);
  check(evc_pool_cancel(pool, first) == EVC_OK, "the second goes out");
  for (i = 0; i < 600; ++i) {
    const evc_status wanted = i == 1 ? EVC_E_INVALID_REQUEST : EVC_E_CANCELLED;
    event = next(pool, EVC_EVENT_END);
    check(evc_error_status(evc_event_error(event)) == wanted, "it fails, and no other is sent");
    evc_event_free(event);
  }
  event = next(pool, EVC_EVENT_DRAINED);
  check(has(evc_error_message(evc_event_error(event)), "the script refuses"), "DRAINED says why");
  evc_event_free(event);
  evc_pool_free(pool);
}

static void sent_again(void) {
  evc_pool* pool = pool_of(NULL);
  evc_event* event;
  submit(pool, question("busy once"), 5);
  event = next(pool, EVC_EVENT_RETRYING);
  check(evc_event_tag(event) == 5, "a retry tells whose it is");
  check(evc_error_status(evc_event_error(event)) == EVC_E_OVERLOADED, "and why");
  check(evc_error_is_retryable(evc_event_error(event)), "which is worth another attempt");
  evc_event_free(event);
  event = next(pool, EVC_EVENT_END);
  check(equal(evc_reply_text(evc_event_reply(event)), "now"), "the second attempt is answered");
  evc_event_free(event);
  evc_pool_free(pool);
}

static void text_while_it_comes(void) {
  evc_pool* pool = pool_of(NULL);
  evc_request* request = question("hi");
  evc_event* event;
  check(evc_request_set_stream(request, 1) == EVC_OK, "text is asked for");
  submit(pool, request, 8);
  event = next(pool, EVC_EVENT_TEXT);
  check(equal(evc_event_text(event), "hello") && evc_event_tag(event) == 8, "it comes before the end");
  evc_event_free(event);
  event = next(pool, EVC_EVENT_END);
  check(equal(evc_reply_text(evc_event_reply(event)), "hello"), "the reply has all of it");
  evc_event_free(event);
  evc_pool_free(pool);
}

static void a_full_pool(void) {
  evc_pool_options* options = evc_pool_options_new();
  evc_pool* pool;
  evc_request* request = question("hi");
  evc_error* error = NULL;
  check(evc_pool_options_set_max_outstanding(options, 0) == EVC_E_INVALID_ARGUMENT, "room for nothing");
  check(evc_pool_options_set_max_outstanding(options, 1) == EVC_OK, "room for one");
  pool = pool_of(options);
  check(evc_pool_submit(pool, request, 0, NULL, NULL) == EVC_OK, "one is accepted");
  check(evc_pool_submit(pool, request, 1, NULL, &error) == EVC_E_OVERLOADED, "another is not");
  check(equal(evc_error_detail(error), "queue_full") && has(evc_error_message(error), "poll"),
        "with the mend");
  evc_error_free(error);
  evc_event_free(next(pool, EVC_EVENT_END));
  check(evc_pool_submit(pool, request, 2, NULL, NULL) == EVC_OK, "until the first was polled");
  evc_request_free(request);
  evc_pool_free(pool);
}

static void descriptor_hook_and_wake(void) {
  evc_pool* pool = pool_of(NULL);
  evc_event* event = NULL;
  int fd = evc_pool_event_fd(pool);
  int hooked[2];
  char bytes[8];
  check(pipe(hooked) == 0, "the hook has a pipe");
  check(fd >= 0 && evc_pool_event_fd(pool) == fd, "there is one descriptor");
  check(!readable(fd, 0), "it is not readable without an event");
  check(evc_pool_set_wakeup(pool, write_a_byte, &hooked[1]) == EVC_OK, "a hook is taken");
  submit(pool, question("hi"), 0);
  check(readable(fd, 20000) && readable(fd, 0), "it is readable as long as there is an event");
  evc_event_free(next(pool, EVC_EVENT_END));
  check(!readable(fd, 0), "and no longer");
  check(readable(hooked[0], 20000), "the hook is called");
  check(evc_pool_set_wakeup(pool, NULL, NULL) == EVC_OK, "a hook is taken back");
  submit(pool, question("hi"), 0);
  check(readable(fd, 20000), "another event comes");
  evc_event_free(next(pool, EVC_EVENT_END));
  check(read(hooked[0], bytes, sizeof bytes) == 1, "the hook was called once, and not after that");
  close(hooked[0]);
  close(hooked[1]);

  check(evc_pool_wake(pool) == EVC_OK, "the next poll is unblocked");
  check(evc_pool_poll(pool, -1, &event) == EVC_E_TIMEOUT && event == NULL, "and gives nothing");
  check(evc_pool_poll(pool, 1, &event) == EVC_E_TIMEOUT, "as does a short one");
  evc_pool_free(pool);
}

static int has_limit(evc_pool_options* options, const char* limit) {
  evc_pool* pool = pool_of(options);
  evc_text* figures = NULL;
  int same;
  check(evc_pool_figures(pool, &figures, NULL) == EVC_OK, "figures are told");
  same = has(evc_text_view(figures), limit);
  evc_text_free(figures);
  evc_pool_free(pool);
  return same;
}

/* A rate that only the answers before it could hold up would be none. */
static void a_rate_is_an_open_loop(void) {
  evc_pool_options* options = evc_pool_options_new();
  check(evc_pool_options_set_rate(options, 0.001) == EVC_OK, "a rate is taken");
  check(has_limit(options, "\"limit\":1024,"), "and opens the loop");
  options = evc_pool_options_new();
  check(evc_pool_options_set_concurrency(options, 8) == EVC_OK, "a concurrency is taken");
  check(evc_pool_options_set_rate(options, 0.001) == EVC_OK, "and a rate");
  check(has_limit(options, "\"limit\":8,"), "which leaves it alone");
  check(has_limit(NULL, "\"limit\":16,"), "without a rate nothing is open");
}

static void a_conversation(void) {
  evc_pool* pool = pool_of(NULL);
  evc_request* request = evc_request_new();
  evc_error* error = NULL;
  evc_event* event;
  check(evc_request_add_messages(request,
                                 str("[{\"role\":\"system\",\"content\":\"Be brief.\"},"
                                     "{\"role\":\"user\",\"content\":\"please call\"}]"),
                                 NULL) == EVC_OK,
        "messages are taken as JSON");
  check(evc_request_add_messages(request, str("[{\"role\":\"user\",\"contents\":\"x\"}]"), &error) ==
            EVC_E_INVALID_REQUEST,
        "but not with a member that is unknown");
  check(has(evc_error_message(error), "contents"), "which is named");
  evc_error_free(error);
  check(evc_request_set_tools(request, str("[{\"name\":\"look_up\",\"parameters\":{\"type\":\"object\"}}]"),
                              NULL) == EVC_OK,
        "tools are taken as JSON");
  check(evc_request_set_params(request, str("{\"top_k\":5,\"tool_choice\":\"auto\"}"), NULL) == EVC_OK,
        "and so are parameters");
  check(evc_request_set_params(request, str("{\"temperatur\":0}"), NULL) == EVC_E_INVALID_REQUEST,
        "but not with a wrong name");
  check(evc_pool_submit(pool, request, 0, NULL, NULL) == EVC_OK, "a request is taken");
  event = next(pool, EVC_EVENT_END);
  check(evc_request_add_reply(request, evc_event_reply(event)) == EVC_OK, "an answer goes on as a turn");
  evc_event_free(event);
  check(evc_request_add_tool_result(request, str("c1"), str("shipped"), 0) == EVC_OK, "the result follows");
  check(evc_request_add_message(request, EVC_ROLE_USER, str("and so it went")) == EVC_OK, "and a turn");
  submit(pool, request, 0);
  event = next(pool, EVC_EVENT_END);
  check(equal(evc_reply_text(evc_event_reply(event)), "I remember"), "the last turn is what is asked");
  evc_event_free(event);
  evc_pool_free(pool);
}

static void scores_where_none_are_given(void) {
  evc_pool* pool = pool_of(NULL);
  evc_request* request = evc_request_new();
  evc_event* event;
  int32_t ids[2] = {1, -1};
  evc_tokens tokens;
  tokens.data = ids;
  tokens.size = 2;
  check(evc_request_set_context(request, str("The sky is")) == EVC_OK, "a context is taken");
  check(evc_pool_submit(pool, request, 0, NULL, NULL) == EVC_E_INVALID_ARGUMENT, "but not alone");
  check(evc_request_add_continuation(request, str("")) == EVC_E_INVALID_ARGUMENT,
        "nothing is no continuation");
  check(evc_request_add_continuation(request, str(" blue")) == EVC_OK, "a continuation is taken");
  check(evc_request_add_continuation_tokens(request, tokens) == EVC_E_INVALID_ARGUMENT, "no negative token");
  submit(pool, request, 0);
  event = next(pool, EVC_EVENT_END);
  check(evc_error_status(evc_event_error(event)) == EVC_E_UNSUPPORTED, "a script scores nothing");
  evc_event_free(event);
  evc_pool_free(pool);
}

static void freed_in_any_order(void) {
  evc_pool* pool;
  evc_event* event;
  evc_text* info = NULL;
  check(evc_backend_info(scripted, &info, NULL) == EVC_OK, "a backend tells of itself");
  check(has(evc_text_view(info), "\"selector\":\"scripted\""), "what it is");
  check(has(evc_text_view(info), "\"slots\":null"), "and what it does not know");
  check(has(evc_text_view(info), "\"sent_model\":null,\"address\":null"), "and that it is no server");
  evc_text_free(info);
  pool = pool_of(NULL);
  evc_runtime_free(runtime);
  evc_backend_free(scripted);
  submit(pool, question("hi"), 0);
  event = next(pool, EVC_EVENT_END);
  evc_pool_free(pool);
  check(equal(evc_reply_text(evc_event_reply(event)), "hello"), "an event outlives its pool");
  evc_event_free(event);
}

int main(void) {
  open_script();
  if (failures > 0) return verdict();
  one_reply();
  a_thousand();
  cancelled_in_flight_and_waiting();
  shut_down_at_once();
  stops_by_itself();
  sent_again();
  text_while_it_comes();
  a_full_pool();
  descriptor_hook_and_wake();
  a_rate_is_an_open_loop();
  a_conversation();
  scores_where_none_are_given();
  freed_in_any_order();
  return verdict();
}
