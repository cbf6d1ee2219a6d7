/* A host in C99 that scores the replies of a run itself. */
#define _XOPEN_SOURCE 700

#include "scripted.h"
#include "temporary_folder.h"

static evc_run* start(const char* scorer) {
  char path[256];
  evc_suite* suite = NULL;
  evc_run* run = NULL;
  evc_run_options* options = evc_run_options_new();
  snprintf(path, sizeof path, "%s/out", folder);
  check(evc_suite_open(str(DATA "/suite.jsonl"), str(""), &suite, NULL) == EVC_OK, "the suite opens");
  check(evc_run_options_set_out(options, str(path)) == EVC_OK, "a folder is taken");
  check(evc_run_options_set_params(options, str("{\"temperature\": 0}"), NULL) == EVC_OK, "and parameters");
  if (scorer != NULL) {
    check(evc_run_options_set_host_scorer(options, str(scorer)) == EVC_OK, "and the host's scorer");
  }
  check(evc_run_start(runtime, suite, &scripted, 1, options, &run, NULL) == EVC_OK, "a run begins");
  evc_suite_free(suite);
  evc_run_options_free(options);
  return run;
}

/* The next event that is neither note nor progress. */
static evc_event* next(evc_run* run) {
  evc_event* event = NULL;
  while (evc_run_poll(run, 30000, &event) == EVC_OK) {
    const int32_t kind = evc_event_kind(event);
    if (kind != EVC_EVENT_NOTE && kind != EVC_EVENT_PROGRESS) return event;
    evc_event_free(event);
  }
  check(0, "there is another event");
  return NULL;
}

static evc_event* asked(evc_run* run) {
  evc_event* event = next(run);
  check(evc_event_kind(event) == EVC_EVENT_SCORE_ASKED, "a score is asked for");
  check(evc_event_ticket(event) != 0 && evc_event_reply(event) != NULL, "with a ticket and a reply");
  return event;
}

/* Three replies are to be scored: a half, none, and what is wrong at first. */
static void scored(void) {
  evc_run* run = start("judged");
  evc_error* error = NULL;
  evc_event* event;
  uint64_t ticket;
  int i;
  for (i = 0; i < 3; ++i) {
    event = asked(run);
    ticket = evc_event_ticket(event);
    if (has(evc_event_json(event), "{\"id\":\"counts\",\"epoch\":0,")) {
      check(has(evc_event_json(event), "\"target\":\"counted\""), "with what is expected");
      check(has(evc_event_json(event), "\"item\":{\"id\": \"counts\", \"prompt\": \"please count\", "),
            "and the item as it stands in the suite");
      check(equal(evc_reply_text(evc_event_reply(event)), "counted"), "and what the model said");
      check(evc_run_score(run, ticket, str("{\"value\": 0.5, \"extracted\": \"counted\"}"), NULL) == EVC_OK,
            "a score is taken");
      check(evc_run_score(run, ticket, str("{\"value\": 1}"), NULL) == EVC_E_NOT_FOUND, "once");
    } else if (has(evc_event_json(event), "{\"id\":\"greets\",")) {
      check(evc_run_unscored(run, ticket, str("the judge is out"), NULL) == EVC_OK, "so is a failure");
    } else {
      check(evc_run_score(run, ticket, str("{\"value\": 1.5}"), &error) == EVC_E_INVALID_ARGUMENT,
            "more than 1 is no score");
      check(has(evc_error_message(error), "from 0 to 1"), "and why");
      evc_error_free(error);
      check(evc_run_score(run, ticket, str("{\"reason\": \"x\"}"), NULL) == EVC_E_INVALID_ARGUMENT,
            "nor is none");
      check(evc_run_score(run, ticket, str("{\"value\": 1, \"metric\": 1}"), NULL) == EVC_E_INVALID_ARGUMENT,
            "nor is one with more than it can have");
      check(evc_run_score(run, ticket, str("1"), NULL) == EVC_E_INVALID_ARGUMENT, "nor is no object");
      check(evc_run_score(run, ticket, str("{\"value\": 0}"), NULL) == EVC_OK, "the reply waited meanwhile");
    }
    evc_event_free(event);
  }
  event = next(run);
  check(evc_event_kind(event) == EVC_EVENT_RUN_END, "then the run ends");
  check(
      has(evc_event_json(event), "\"metric\": \"judged\"") && has(evc_event_json(event), "\"score\": 0.125"),
      "with the host's metric: a half of four, the missing taken as wrong");
  check(has(evc_event_json(event), "\"unscored\": 1,") && has(evc_event_json(event), "\"errors\": 1,"),
        "and what is missing");
  check(evc_run_score(run, ticket, str("{\"value\": 1}"), NULL) == EVC_E_NOT_FOUND, "nobody waits any more");
  evc_event_free(event);
  evc_run_free(run);
}

static void asked_again(void) {
  evc_run* run = start("judged");
  evc_event* event = asked(run);
  check(has(evc_event_json(event), "{\"id\":\"greets\","), "only what failed is asked for again");
  evc_event_free(event);
  check(evc_run_cancel(run) == EVC_OK, "a host that gives up cancels");
  event = next(run);
  check(evc_event_kind(event) == EVC_EVENT_RUN_END, "and the run ends without an answer");
  check(has(evc_event_json(event), "\"interrupted\": true,"), "interrupted");
  check(has(evc_event_json(event), "\"unscored\": 1,"), "without that score");
  evc_event_free(event);
  evc_run_free(run);

  run = start("judged");
  evc_event_free(asked(run));
  evc_run_free(run); /* Waits for no answer: the test has a time limit. */
}

static void refused(void) {
  evc_run_options* options = evc_run_options_new();
  evc_error* error = NULL;
  evc_run* run;
  check(evc_run_options_set_host_scorer(options, str("")) == EVC_E_INVALID_ARGUMENT, "a scorer has a name");
  evc_run_options_free(options);
  check(evc_run_score(NULL, 1, str("{\"value\": 1}"), NULL) == EVC_E_INVALID_ARGUMENT, "a run is needed");
  check(evc_run_unscored(NULL, 1, str(""), NULL) == EVC_E_INVALID_ARGUMENT, "here, too");
  run = start(NULL);
  check(evc_run_score(run, 1, str("{\"value\": 1}"), &error) == EVC_E_INVALID_ARGUMENT,
        "a run with scorers of its own takes none");
  check(has(evc_error_message(error), "host_scorer"), "and names the option");
  evc_error_free(error);
  check(evc_run_unscored(run, 1, str("\xff"), NULL) == EVC_E_INVALID_ARGUMENT, "a reason is a text");
  evc_run_free(run);
}

int main(void) {
  make_folder();
  open_script();
  if (failures > 0) return verdict();
  scored();
  asked_again();
  refused();
  close_script();
  remove_folder();
  return verdict();
}
