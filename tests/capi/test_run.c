/* A host in C99 that runs suites: events, files, going on from a store, and what is refused. */
#define _XOPEN_SOURCE 700

#include <time.h>
#include <unistd.h>

#include "scripted.h"
#include "temporary_folder.h"
#include "wakeup.h"

static const char* path_in(const char* name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static evc_suite* suite_of(const char* name) {
  char path[1024];
  evc_suite* suite = NULL;
  snprintf(path, sizeof path, "%s/%s", DATA, name);
  check(evc_suite_open(str(path), str(""), &suite, NULL) == EVC_OK, "a suite is opened");
  return suite;
}

static evc_run* start(const char* suite_name, const char* out) {
  evc_suite* suite = suite_of(suite_name);
  evc_run_options* options = evc_run_options_new();
  evc_run* run = NULL;
  evc_error* error = NULL;
  check(evc_run_options_set_out(options, str(path_in(out))) == EVC_OK, "a folder is taken");
  check(evc_run_options_set_params(options, str("{\"temperature\": 0}"), NULL) == EVC_OK,
        "so are parameters");
  check(evc_run_start(runtime, suite, &scripted, 1, options, &run, &error) == EVC_OK, "a run begins");
  evc_error_free(error);
  evc_suite_free(suite);
  evc_run_options_free(options);
  return run;
}

/* Polls to the end of a run, which must say so. Notes and progress are counted. */
static evc_event* end_of(evc_run* run, int* notes, int* progress) {
  evc_event* event = NULL;
  while (evc_run_poll(run, 30000, &event) == EVC_OK) {
    switch (evc_event_kind(event)) {
      case EVC_EVENT_NOTE:
        check(evc_event_text(event).size > 0, "a note says something");
        ++*notes;
        break;
      case EVC_EVENT_PROGRESS:
        check(has(evc_event_json(event), "\"items\":"), "progress tells of the items");
        ++*progress;
        break;
      case EVC_EVENT_RUN_END: {
        evc_event* more = NULL;
        check(evc_run_poll(run, -1, &more) == EVC_E_CLOSED && more == NULL, "nothing follows the end");
        return event;
      }
      default:
        check(0, "a run has three kinds of events");
    }
    evc_event_free(event);
  }
  check(0, "a run ends");
  return NULL;
}

static void a_run_and_its_files(void) {
  int notes = 0;
  int progress = 0;
  char written[16384];
  size_t size;
  FILE* file;
  evc_run* run = start("suite.jsonl", "whole");
  evc_event* event = end_of(run, &notes, &progress);
  const evc_str summary = evc_event_json(event);
  check(evc_event_error(event) == NULL, "it has a summary and no error");
  check(has(summary, "\"answered\": 3,") && has(summary, "\"errors\": 1,"), "three are answered, one fails");
  check(has(summary, "\"score\": 0.5,"), "two of four are right");
  check(has(summary, "\"task\": \"suite\","), "the task is the suite's name");
  check(progress > 0, "progress was told");
  file = fopen(path_in("whole/summary.json"), "r");
  check(file != NULL, "summary.json is written");
  size = file == NULL ? 0 : fread(written, 1, sizeof written, file);
  check(size == summary.size && memcmp(written, summary.data, size) == 0, "and is what the event has");
  if (file != NULL) fclose(file);
  check(access(path_in("whole/rows.jsonl"), R_OK) == 0, "and so are the rows");
  evc_event_free(event);
  evc_run_free(run);

  run = start("suite.jsonl", "whole");
  event = end_of(run, &notes, &progress);
  check(has(evc_event_json(event), "\"reused\": 3,"), "the same again takes what is there");
  check(has(evc_event_json(event), "\"sent\": 1,"), "and asks only what failed");
  check(notes > 0, "and says so");
  evc_event_free(event);
  evc_run_free(run);
}

/* Polls until the run's progress has this. */
static void wait_for(evc_run* run, const char* part) {
  evc_event* event = NULL;
  int seen = 0;
  while (!seen && evc_run_poll(run, 30000, &event) == EVC_OK) {
    seen = has(evc_event_json(event), part);
    evc_event_free(event);
  }
  check(seen, part);
}

static void a_run_that_is_cancelled(void) {
  int notes = 0;
  int progress = 0;
  evc_event* event = NULL;
  evc_run* run = start("slow_suite.jsonl", "slow");
  time_t began;
  wait_for(run, "\"done\":1,");
  check(evc_run_set_concurrency(run, 1) == EVC_OK, "the concurrency changes meanwhile");
  check(evc_run_cancel(run) == EVC_OK, "a run is cancelled");
  event = end_of(run, &notes, &progress);
  check(has(evc_event_json(event), "\"interrupted\": true,"), "its summary says so");
  check(has(evc_event_json(event), "\"answered\": 1,") && has(evc_event_json(event), "\"not_run\": 2,"),
        "what is done is kept");
  evc_event_free(event);
  check(evc_run_cancel(run) == EVC_OK, "twice is fine");
  evc_run_free(run);
  check(access(path_in("slow/rows.jsonl"), F_OK) != 0, "a run that is not whole has no rows");

  run = start("slow_suite.jsonl", "slow");
  wait_for(run, "\"running\":2,");
  began = time(NULL);
  evc_run_free(run);
  check(time(NULL) - began < 30, "a run that is freed waits for no answer");
}

static void a_hook(void) {
  int hooked[2];
  char byte;
  evc_run* run = start("slow_suite.jsonl", "hooked");
  evc_event* event = NULL;
  check(pipe(hooked) == 0, "the hook has a pipe");
  check(evc_run_set_wakeup(run, write_a_byte, &hooked[1]) == EVC_OK, "a hook is taken");
  wait_for(run, "\"done\":1,\"running\":2,");
  while (evc_run_poll(run, 0, &event) == EVC_OK) evc_event_free(event);
  while (readable(hooked[0], 0) && read(hooked[0], &byte, 1) == 1) {
  }
  check(evc_run_cancel(run) == EVC_OK, "the run is cancelled");
  check(readable(hooked[0], 20000), "and the hook called");
  evc_run_free(run);
  close(hooked[0]);
  close(hooked[1]);
}

static void a_suite_in_memory(void) {
  const char* lines =
      "{\"id\": 1, \"prompt\": \"hi\", \"target\": \"hello\"}\n{\"id\": 2, \"prompt\": \"hi\", \"target\": "
      "\"x\"}";
  evc_suite* suite = NULL;
  evc_run* run = NULL;
  evc_error* error = NULL;
  evc_event* event;
  int notes = 0;
  int progress = 0;
  evc_run_options* options = evc_run_options_new();
  check(evc_suite_open_text(str("mine"), str(lines), &suite, NULL) == EVC_OK, "lines are a suite");
  check(evc_suite_size(suite) == 2 && equal(evc_suite_task(suite), "mine"), "of that name");
  check(evc_run_options_set_out(options, str(path_in("memory"))) == EVC_OK, "a folder is taken");
  check(evc_run_start(runtime, suite, &scripted, 1, options, &run, NULL) == EVC_OK, "and run");
  evc_suite_free(suite);
  event = end_of(run, &notes, &progress);
  check(has(evc_event_json(event), "\"task\": \"mine\",") && has(evc_event_json(event), "\"score\": 0.5,"),
        "as any other");
  evc_event_free(event);
  evc_run_free(run);
  check(evc_suite_open_text(str("mine"), str("{\"id\": 1}"), &suite, &error) == EVC_E_BAD_SUITE &&
            suite == NULL,
        "a bad line is refused");
  check(has(evc_error_message(error), "mine:1: "), "by name and number");
  evc_error_free(error);
  check(evc_suite_open_text(str(""), str(lines), &suite, NULL) == EVC_E_INVALID_ARGUMENT, "a name is needed");
  evc_run_options_free(options);
}

static void two_runs_of_one_store(void) {
  int notes = 0;
  int progress = 0;
  evc_event* event = NULL;
  evc_run* first = start("slow_suite.jsonl", "shared");
  evc_run* second;
  check(evc_run_poll(first, 30000, &event) == EVC_OK, "the first is under way");
  evc_event_free(event);
  second = start("slow_suite.jsonl", "shared");
  event = end_of(second, &notes, &progress);
  check(evc_error_status(evc_event_error(event)) == EVC_E_BUSY, "the second finds the store in use");
  check(evc_event_json(event).size == 0, "and has no summary");
  evc_event_free(event);
  evc_run_free(second);
  evc_run_free(first);
}

static void refused(void) {
  evc_suite* suite = NULL;
  evc_run_options* options = evc_run_options_new();
  evc_pool_options* pool = evc_pool_options_new();
  evc_run* run = NULL;
  evc_error* error = NULL;
  check(evc_suite_open(str("/no/such/suite.jsonl"), str(""), &suite, &error) == EVC_E_NOT_FOUND, "no suite");
  check(suite == NULL && has(evc_error_message(error), "/no/such/suite.jsonl"), "which is named");
  evc_error_free(error);
  suite = suite_of("suite.jsonl");
  check(evc_suite_size(suite) == 4 && equal(evc_suite_task(suite), "suite"), "a suite tells of itself");
  check(evc_suite_hash(suite).size == 64, "and has a hash");
  check(evc_run_start(runtime, suite, &scripted, 1, options, &run, &error) == EVC_E_INVALID_ARGUMENT,
        "no folder");
  check(run == NULL && has(evc_error_message(error), "out"), "which is named");
  evc_error_free(error);
  check(evc_run_start(runtime, suite, &scripted, 1, NULL, &run, NULL) == EVC_E_INVALID_ARGUMENT,
        "no options");
  check(evc_run_options_set_out(options, str(path_in("never"))) == EVC_OK, "a folder is taken");
  check(evc_run_start(runtime, NULL, &scripted, 1, options, &run, NULL) == EVC_E_INVALID_ARGUMENT,
        "no suite");
  check(evc_run_start(runtime, suite, &scripted, 0, options, &run, NULL) == EVC_E_INVALID_ARGUMENT, "nobody");
  check(evc_run_options_set_max_cost(options, 1.5) == EVC_OK, "a bound on the cost");
  check(evc_run_start(runtime, suite, &scripted, 1, options, &run, &error) == EVC_E_INVALID_ARGUMENT,
        "needs prices");
  check(has(evc_error_message(error), "price"), "which is said");
  evc_error_free(error);
  check(evc_run_options_set_order(options, str("random")) == EVC_E_INVALID_ARGUMENT, "no such order");
  check(evc_run_options_set_tools(options, str("none")) == EVC_E_INVALID_ARGUMENT, "no such mode");
  check(evc_run_options_set_shard(options, 5, 4) == EVC_E_INVALID_ARGUMENT, "the fifth of four");
  check(evc_run_options_set_limit(options, 0) == EVC_E_INVALID_ARGUMENT, "no items");
  check(evc_run_options_set_max_cost(options, -1) == EVC_E_INVALID_ARGUMENT, "a negative cost");
  check(evc_run_options_set_params(options, str("{\"temperatur\": 0}"), &error) == EVC_E_INVALID_REQUEST,
        "a misspelt parameter");
  check(has(evc_error_message(error), "temperatur"), "which is named");
  evc_error_free(error);
  check(evc_run_options_set_params(options, str("{\"logprobs\": true}"), NULL) == EVC_E_INVALID_REQUEST,
        "one that would be ignored");
  check(evc_run_options_set_params(options, str("{\"top_k\": 5}"), NULL) == EVC_OK, "one that is not");
  check(evc_run_options_set_pool(options, NULL) == EVC_E_INVALID_ARGUMENT, "no pool's options");
  check(evc_run_options_set_pool(options, pool) == EVC_OK, "a pool's options");
  check(evc_run_poll(NULL, 0, NULL) == EVC_E_INVALID_ARGUMENT && evc_run_event_fd(NULL) == -1, "no run");
  evc_run_free(NULL);
  evc_suite_free(NULL);
  evc_run_options_free(NULL);
  evc_pool_options_free(pool);
  evc_run_options_free(options);
  evc_suite_free(suite);
}

static void a_part_of_a_suite(void) {
  int notes = 0;
  int progress = 0;
  evc_suite* suite = suite_of("suite.jsonl");
  evc_run_options* options = evc_run_options_new();
  evc_run* run = NULL;
  evc_event* event;
  check(evc_run_options_set_out(options, str(path_in("part"))) == EVC_OK, "a folder is taken");
  check(evc_run_options_set_limit(options, 2) == EVC_OK, "a limit is taken");
  check(evc_run_options_set_task(options, str("greetings")) == EVC_OK, "a task is taken");
  check(evc_run_options_set_order(options, str("suite")) == EVC_OK, "an order is taken");
  check(evc_run_start(runtime, suite, &scripted, 1, options, &run, NULL) == EVC_OK, "a run begins");
  evc_run_options_free(options);
  evc_suite_free(suite);
  event = end_of(run, &notes, &progress);
  check(has(evc_event_json(event), "\"task\": \"greetings\","), "it has the task's name");
  check(has(evc_event_json(event), "\"order\": \"suite\","), "and the order");
  check(has(evc_event_json(event), "\"items\": 2,") && has(evc_event_json(event), "\"score\": 1.0,"),
        "and the first two items");
  evc_event_free(event);
  evc_run_free(run);
}

static void a_plan(void) {
  evc_suite* suite = suite_of("suite.jsonl");
  evc_run_options* options = evc_run_options_new();
  evc_text* plan = NULL;
  evc_error* error = NULL;
  check(evc_suite_plan(suite, NULL, NULL, &plan, NULL) == EVC_OK, "a suite is planned without a backend");
  check(has(evc_text_view(plan), "\"items\":4,\"unit\":\"bytes\""), "in bytes");
  evc_text_free(plan);
  check(evc_run_options_set_order(options, str("suite")) == EVC_OK, "an order is taken");
  check(evc_run_options_set_limit(options, 2) == EVC_OK, "a limit is taken");
  check(evc_suite_plan(suite, scripted, options, &plan, NULL) == EVC_OK, "and with one");
  check(has(evc_text_view(plan), "\"order\":[\"counts\",\"greets\"]"), "in that order, and no further");
  evc_text_free(plan);
  check(evc_run_options_set_price(options, str("prices.json")) == EVC_OK, "a price file is named");
  check(evc_suite_plan(suite, NULL, options, &plan, &error) == EVC_E_INVALID_ARGUMENT && plan == NULL,
        "prices without a model");
  check(has(evc_error_message(error), "backend"), "which is said");
  evc_error_free(error);
  check(evc_suite_plan(NULL, NULL, NULL, &plan, NULL) == EVC_E_INVALID_ARGUMENT, "no suite");
  evc_run_options_free(options);
  evc_suite_free(suite);
}

int main(void) {
  make_folder();
  open_script();
  if (failures > 0) return verdict();
  a_run_and_its_files();
  a_run_that_is_cancelled();
  a_hook();
  a_suite_in_memory();
  two_runs_of_one_store();
  a_part_of_a_suite();
  a_plan();
  refused();
  close_script();
  remove_folder();
  return verdict();
}
