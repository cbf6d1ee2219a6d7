/* A host in C99 of conversations: each reply is answered, what was ended is not asked again, and a
   conversation that was given up goes on from the store. */
#define _XOPEN_SOURCE 700

#include "scripted.h"
#include "temporary_folder.h"
#include "wakeup.h"

static evc_episodes* open_store(const char* name, uint32_t max_turns) {
  char path[256];
  evc_episodes_options* options = evc_episodes_options_new();
  evc_episodes* episodes = NULL;
  evc_error* error = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  check(evc_episodes_options_set_suite(options, str("shop 1")) == EVC_OK, "a suite is named");
  if (max_turns > 0)
    check(evc_episodes_options_set_max_turns(options, max_turns) == EVC_OK, "a limit is taken");
  check(evc_episodes_open(runtime, &scripted, 1, str(path), options, &episodes, &error) == EVC_OK,
        "episodes are opened");
  evc_error_free(error);
  evc_episodes_options_free(options);
  return episodes;
}

static evc_request* says(const char* text) {
  evc_request* request = evc_request_new();
  check(evc_request_add_message(request, EVC_ROLE_USER, str(text)) == EVC_OK, "a message is taken");
  return request;
}

static uint64_t begin(evc_episodes* episodes, const char* id, uint64_t tag) {
  uint64_t episode = 0;
  evc_request* first = says("please call");
  check(evc_episodes_begin(episodes, str(id), 0, first, tag, &episode, NULL) == EVC_OK && episode > 0,
        "an episode begins");
  evc_request_free(first);
  return episode;
}

/* The next event, which must be of this kind and of this episode's tag. */
static evc_event* next(evc_episodes* episodes, int32_t kind, uint64_t tag) {
  evc_event* event = NULL;
  check(evc_episodes_poll(episodes, 20000, &event) == EVC_OK, "an event comes in time");
  check(evc_event_kind(event) == kind && evc_event_tag(event) == tag, "it is the expected one");
  return event;
}

static void answer_with_tool(evc_episodes* episodes, uint64_t episode) {
  evc_request* turns = evc_request_new();
  check(evc_request_add_tool_result(turns, str("c1"), str("shipped"), 0) == EVC_OK, "a tool's result");
  check(evc_request_add_message(turns, EVC_ROLE_USER, str("and so it went")) == EVC_OK, "and a user's words");
  check(evc_episodes_next(episodes, episode, turns, NULL) == EVC_OK, "go on");
  evc_request_free(turns);
}

static void a_conversation(void) {
  evc_episodes* episodes = open_store("one.db", 0);
  evc_text* figures = NULL;
  evc_event* event;
  evc_error* error = NULL;
  evc_request* again;
  const uint64_t episode = begin(episodes, "w1", 7);
  event = next(episodes, EVC_EVENT_REPLIED, 7);
  check(evc_event_ticket(event) == episode, "an event has the episode's number");
  check(has(evc_reply_tool_calls(evc_event_reply(event)), "look_up"), "the model calls");
  check(has(evc_event_json(event), "\"id\":\"w1\",\"epoch\":0,\"turn\":1,\"reused\":false"),
        "it is the first turn");
  evc_event_free(event);
  again = says("please call");
  check(evc_episodes_begin(episodes, str("w1"), 0, again, 8, NULL, &error) == EVC_E_INVALID_ARGUMENT,
        "what is under way is not begun");
  evc_error_free(error);
  evc_request_free(again);
  answer_with_tool(episodes, episode);
  event = next(episodes, EVC_EVENT_REPLIED, 7);
  check(equal(evc_reply_text(evc_event_reply(event)), "I remember"), "the history goes along");
  evc_event_free(event);
  check(evc_episodes_running(episodes) == 1, "one is under way");
  check(evc_episodes_end(episodes, episode, str("no json"), &error) == EVC_E_INVALID_ARGUMENT,
        "no such outcome");
  evc_error_free(error);
  check(evc_episodes_end(episodes, episode, str("{\"reward\":1}"), NULL) == EVC_OK, "the host ends it");
  check(evc_episodes_next(episodes, episode, NULL, NULL) == EVC_E_INVALID_ARGUMENT, "no turns");
  check(evc_episodes_end(episodes, episode, str(""), NULL) == EVC_E_NOT_FOUND, "it is over");
  check(evc_episodes_running(episodes) == 0, "none is under way");
  check(evc_episodes_finish(episodes, &figures, NULL) == EVC_OK, "the host finishes");
  check(has(evc_text_view(figures), "\"episodes\":1,\"ended\":{\"done\":1}"), "one was ended");
  check(has(evc_text_view(figures), "\"sent\":2,\"retried\":0,\"replies\":2,\"reused\":0"),
        "with two replies");
  evc_text_free(figures);
  check(evc_episodes_poll(episodes, -1, &event) == EVC_E_CLOSED, "nothing comes after that");
  evc_episodes_free(episodes);

  episodes = open_store("one.db", 0);
  begin(episodes, "w1", 9);
  event = next(episodes, EVC_EVENT_FINISHED, 9);
  check(has(evc_event_json(event), "\"outcome\":{\"reward\":1}"), "what was ended has its outcome");
  evc_event_free(event);
  evc_episodes_free(episodes);
}

static void going_on_from_the_store(void) {
  evc_episodes* episodes = open_store("two.db", 0);
  evc_text* figures = NULL;
  evc_event* event;
  uint64_t episode = begin(episodes, "w2", 1);
  evc_event_free(next(episodes, EVC_EVENT_REPLIED, 1));
  evc_episodes_free(episodes);

  episodes = open_store("two.db", 0);
  episode = begin(episodes, "w2", 2);
  event = next(episodes, EVC_EVENT_REPLIED, 2);
  check(has(evc_event_json(event), "\"turn\":1,\"reused\":true"), "the first turn comes from the store");
  evc_event_free(event);
  answer_with_tool(episodes, episode);
  event = next(episodes, EVC_EVENT_REPLIED, 2);
  check(has(evc_event_json(event), "\"turn\":2,\"reused\":false"), "the second is asked");
  evc_event_free(event);
  check(evc_episodes_cancel(episodes, episode, NULL) == EVC_OK, "the host gives it up");
  check(evc_episodes_finish(episodes, &figures, NULL) == EVC_OK, "and finishes");
  check(has(evc_text_view(figures), "\"sent\":1,") && has(evc_text_view(figures), "\"reused\":1,"),
        "as counted");
  evc_text_free(figures);
  evc_episodes_free(episodes);
}

/* A host that begins all and then polls while any runs must hear of those that the store has finished. */
static void what_is_finished_runs_until_it_is_polled(void) {
  evc_episodes* episodes = open_store("one.db", 0);
  evc_text* figures = NULL;
  begin(episodes, "w1", 4);
  check(readable(evc_episodes_event_fd(episodes), 20000), "the descriptor tells of its event");
  check(evc_episodes_running(episodes) == 1, "what is over and not polled yet counts");
  check(evc_episodes_finish(episodes, &figures, NULL) == EVC_OK, "also after the host has finished");
  evc_text_free(figures);
  check(evc_episodes_running(episodes) == 1, "it counts");
  evc_event_free(next(episodes, EVC_EVENT_FINISHED, 4));
  check(evc_episodes_running(episodes) == 0, "until it is polled");
  evc_episodes_free(episodes);
}

static void a_hook(void) {
  evc_episodes* episodes = open_store("six.db", 0);
  int hooked[2];
  check(pipe(hooked) == 0, "the hook has a pipe");
  check(evc_episodes_set_wakeup(episodes, write_a_byte, &hooked[1]) == EVC_OK, "a hook is taken");
  begin(episodes, "w6", 8);
  check(readable(hooked[0], 20000), "and called");
  evc_event_free(next(episodes, EVC_EVENT_REPLIED, 8));
  evc_episodes_free(episodes);
  close(hooked[0]);
  close(hooked[1]);
}

static void finishing_leaves_none_running(void) {
  evc_episodes* episodes = open_store("four.db", 0);
  evc_text* figures = NULL;
  begin(episodes, "w4", 5);
  evc_event_free(next(episodes, EVC_EVENT_REPLIED, 5));
  check(evc_episodes_running(episodes) == 1, "one waits for the host");
  check(evc_episodes_finish(episodes, &figures, NULL) == EVC_OK, "who finishes");
  evc_text_free(figures);
  check(evc_episodes_running(episodes) == 0, "none is under way");
  evc_episodes_free(episodes);
}

static void a_context_goes_on_with_nothing(void) {
  evc_episodes* episodes = open_store("five.db", 0);
  evc_error* error = NULL;
  evc_request* scored = evc_request_new();
  const uint64_t episode = begin(episodes, "w5", 6);
  evc_event_free(next(episodes, EVC_EVENT_REPLIED, 6));
  check(evc_request_set_context(scored, str("Question:")) == EVC_OK, "a context");
  check(evc_request_add_continuation(scored, str(" yes")) == EVC_OK, "and what follows");
  check(evc_episodes_next_whole(episodes, episode, scored, &error) == EVC_E_INVALID_ARGUMENT,
        "an episode does not go on with a context");
  check(has(evc_error_message(error), "context"), "and it says so");
  evc_error_free(error);
  evc_request_free(scored);
  answer_with_tool(episodes, episode);
  evc_event_free(next(episodes, EVC_EVENT_REPLIED, 6));
  evc_episodes_free(episodes);
}

static void a_limit(void) {
  evc_episodes* episodes = open_store("three.db", 1);
  evc_event* event;
  const uint64_t episode = begin(episodes, "w3", 3);
  evc_event_free(next(episodes, EVC_EVENT_REPLIED, 3));
  check(evc_episodes_add_cost(episodes, episode, 0.5, NULL) == EVC_OK, "a cost is added");
  check(evc_episodes_add_cost(episodes, episode, -1, NULL) == EVC_E_INVALID_ARGUMENT, "but none below 0");
  answer_with_tool(episodes, episode);
  event = next(episodes, EVC_EVENT_STOPPED, 3);
  check(has(evc_event_json(event), "\"why\":\"turns\""), "the limit stops it");
  check(evc_event_error(event) == NULL, "which is no failure");
  evc_event_free(event);
  check(evc_episodes_end(episodes, episode, str(""), NULL) == EVC_OK, "the host ends it");
  evc_episodes_free(episodes);
}

static void refused(void) {
  evc_episodes_options* options = evc_episodes_options_new();
  evc_episodes* episodes = NULL;
  evc_error* error = NULL;
  check(evc_episodes_open(runtime, &scripted, 1, str("/tmp/never.db"), NULL, &episodes, NULL) ==
            EVC_E_INVALID_ARGUMENT,
        "no options");
  check(evc_episodes_options_set_suite(options, str("")) == EVC_E_INVALID_ARGUMENT, "a suite without a name");
  check(evc_episodes_options_set_max_turns(options, 0) == EVC_E_INVALID_ARGUMENT, "no turns");
  check(evc_episodes_options_set_max_time_s(options, 0) == EVC_E_INVALID_ARGUMENT, "no time");
  check(evc_episodes_options_set_suite(options, str("shop 1")) == EVC_OK, "a name");
  check(evc_episodes_open(runtime, &scripted, 1, str("/no/such/folder/x.db"), options, &episodes, &error) ==
            EVC_E_STORAGE,
        "a folder that is not there");
  check(episodes == NULL && has(evc_error_message(error), "/no/such/folder"), "which is named");
  evc_error_free(error);
  check(evc_episodes_poll(NULL, 0, NULL) == EVC_E_INVALID_ARGUMENT && evc_episodes_running(NULL) == 0,
        "none");
  evc_episodes_free(NULL);
  evc_episodes_options_free(NULL);
  evc_episodes_options_free(options);
}

int main(void) {
  make_folder();
  open_script();
  if (failures > 0) return verdict();
  a_conversation();
  going_on_from_the_store();
  what_is_finished_runs_until_it_is_polled();
  a_hook();
  finishing_leaves_none_running();
  a_context_goes_on_with_nothing();
  a_limit();
  refused();
  close_script();
  remove_folder();
  return verdict();
}
