/* A host in C99 that scores replies, compares runs, gates a candidate and plans a gate. */
#define _XOPEN_SOURCE 700

#include <math.h>

#include "scripted.h"
#include "temporary_folder.h"

static const char* path_in(const char* name) {
  static char paths[4][256];
  static int turn = 0;
  char* path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void write_file(const char* name, const char* text) {
  FILE* file = fopen(path_in(name), "w");
  check(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "a file is written");
}

static evc_suite* suite_in(const char* name) {
  evc_suite* suite = NULL;
  check(evc_suite_open(str(path_in(name)), str(""), &suite, NULL) == EVC_OK, "a suite is opened");
  return suite;
}

/* Four prompts that the script answers with "hello", or with "counted" where they count. */
static const char* suite_lines =
    "{\"id\": 1, \"prompt\": \"hi\", \"target\": \"hello\"}\n"
    "{\"id\": 2, \"prompt\": \"hi\", \"target\": \"hello\"}\n"
    "{\"id\": 3, \"prompt\": \"hi\", \"target\": \"hello\"}\n"
    "{\"id\": 4, \"prompt\": \"please count\", \"target\": \"counted\"}\n";

static void run_suite(const char* out) {
  evc_suite* suite = suite_in("suite.jsonl");
  evc_run_options* options = evc_run_options_new();
  evc_run* run = NULL;
  evc_event* event = NULL;
  int ended = 0;
  check(evc_run_options_set_out(options, str(path_in(out))) == EVC_OK, "a folder is taken");
  check(evc_run_start(runtime, suite, &scripted, 1, options, &run, NULL) == EVC_OK, "a run begins");
  while (!ended && evc_run_poll(run, 30000, &event) == EVC_OK) {
    ended = evc_event_kind(event) == EVC_EVENT_RUN_END && evc_event_error(event) == NULL;
    evc_event_free(event);
  }
  check(ended, "and ends");
  evc_run_free(run);
  evc_run_options_free(options);
  evc_suite_free(suite);
}

static void replies_are_scored(void) {
  evc_suite* suite = suite_in("suite.jsonl");
  evc_score_options* options = evc_score_options_new();
  evc_text* verdicts = NULL;
  evc_text* summary = NULL;
  evc_error* error = NULL;
  uint64_t unknown = 9;
  write_file("replies.jsonl",
             "{\"id\": 1, \"text\": \"hello\"}\n{\"id\": 2, \"text\": \"Hello!\"}\n"
             "{\"id\": 4, \"text\": \"counted\"}\n{\"id\": 5, \"text\": \"of nothing\"}\n");
  check(evc_suite_score(suite, str(path_in("replies.jsonl")), NULL, NULL, NULL, &summary, NULL) == EVC_OK,
        "replies are scored");
  check(has(evc_text_view(summary), "\"score\": 0.5,"), "two of four are right");
  check(has(evc_text_view(summary), "\"not_run\": 1,"), "one has no reply");
  evc_text_free(summary);

  check(
      evc_score_options_set_scorer(options, str("{\"name\": \"includes\", \"ignore_case\": true}")) == EVC_OK,
      "a scorer is taken");
  check(evc_score_options_set_limit(options, 2) == EVC_OK, "so is a limit");
  check(evc_suite_score(suite, str(path_in("replies.jsonl")), options, &verdicts, &unknown, &summary, NULL) ==
            EVC_OK,
        "and they count");
  check(has(evc_text_view(summary), "\"score\": 1.0,") && has(evc_text_view(summary), "\"includes\""),
        "by that scorer two of two are right");
  check(unknown == 1, "one reply is to no item");
  check(has(evc_text_view(verdicts), "{\"id\":\"1\",") && has(evc_text_view(verdicts), "\n{\"id\":\"2\","),
        "each has its line");
  evc_text_free(verdicts);
  evc_text_free(summary);

  check(evc_score_options_set_scorer(options, str("chance")) == EVC_E_NOT_FOUND, "no such scorer");
  check(has(evc_score_options_refusal(options), "chance"), "which is named");
  check(evc_score_options_set_limit(options, 0) == EVC_E_INVALID_ARGUMENT, "no items");
  check(equal(evc_score_options_refusal(options), "limit must be 1 or more"), "which is said");
  check(evc_suite_score(suite, str(path_in("none.jsonl")), options, &verdicts, &unknown, &summary, &error) ==
            EVC_E_NOT_FOUND,
        "no file");
  check(summary == NULL && verdicts == NULL && unknown == 0, "leaves nothing behind");
  check(has(evc_error_message(error), "none.jsonl"), "and is named");
  evc_error_free(error);
  evc_score_options_free(options);
  evc_suite_free(suite);
}

static void runs_are_compared(void) {
  evc_str runs[2];
  evc_text* told = NULL;
  evc_error* error = NULL;
  runs[0] = str(path_in("base"));
  runs[1] = str(path_in("tuned/run.db"));
  check(evc_compare_runs(runs, 2, str(""), str(""), &told, NULL) == EVC_OK, "runs are compared");
  check(has(evc_text_view(told), "\"items\":4,"), "over their items");
  check(has(evc_text_view(told), "\"difference\":0.0,"), "and do not differ");
  evc_text_free(told);
  check(evc_compare_runs(runs, 1, str(""), str(""), &told, &error) == EVC_E_INVALID_ARGUMENT, "one run");
  check(told == NULL && has(evc_error_message(error), "two runs"), "is too few");
  evc_error_free(error);
  runs[1] = str(path_in("absent"));
  check(evc_compare_runs(runs, 2, str(""), str(""), &told, &error) == EVC_E_NOT_FOUND, "no run");
  check(has(evc_error_message(error), "absent"), "which is named");
  evc_error_free(error);
}

/* Of n equal items Tango's test shows margins of which sqrt(n m / (1 - m)) > 1.645: of 4 from 0.4035 on. */
static void runs_are_gated(void) {
  evc_str runs[2];
  evc_text* told = NULL;
  evc_error* error = NULL;
  int32_t verdict = 0;
  evc_gate_options* options = evc_gate_options_new();
  runs[0] = str(path_in("tuned"));
  runs[1] = str(path_in("base"));
  check(evc_gate_runs(runs, 2, NULL, &verdict, &told, NULL) == EVC_OK, "a candidate is gated");
  check(verdict == EVC_GATE_INCONCLUSIVE, "four items do not show a margin of 0.02");
  check(has(evc_text_view(told), "{\"verdict\":\"inconclusive\","), "which is said");
  evc_text_free(told);
  check(evc_gate_options_set_margin(options, 0.41) == EVC_OK, "a margin is taken");
  check(evc_gate_runs(runs, 2, options, &verdict, &told, NULL) == EVC_OK && verdict == EVC_GATE_PASS,
        "they show one of 0.41");
  check(has(evc_text_view(told), "{\"verdict\":\"pass\",") && has(evc_text_view(told), "\"margin\":0.41,"),
        "which is said, too");
  evc_text_free(told);
  check(evc_gate_options_set_margin(options, 0.40) == EVC_OK, "another is taken");
  check(evc_gate_runs(runs, 2, options, &verdict, &told, NULL) == EVC_OK && verdict == EVC_GATE_INCONCLUSIVE,
        "but none of 0.40");
  evc_text_free(told);
  runs[0] = str(path_in("wrong"));
  check(evc_gate_options_set_margin(options, 0.1) == EVC_OK, "a third is taken");
  check(evc_gate_runs(runs, 2, options, NULL, &told, NULL) == EVC_E_INVALID_ARGUMENT && told == NULL,
        "runs of two suites");

  check(evc_gate_runs(runs, 1, NULL, &verdict, &told, &error) == EVC_E_INVALID_ARGUMENT, "no pair");
  check(verdict == EVC_GATE_INCONCLUSIVE && has(evc_error_message(error), "pairs"), "which is said");
  evc_error_free(error);
  check(evc_gate_options_set_margin(options, 0) == EVC_E_INVALID_ARGUMENT, "no margin");
  check(equal(evc_gate_options_refusal(options), "margin must be 0.000001 to 0.999"), "which is said");
  check(evc_gate_options_set_alpha(options, 0.5) == EVC_E_INVALID_ARGUMENT, "a coin's alpha");
  check(evc_gate_options_set_power(options, NAN) == EVC_E_INVALID_ARGUMENT, "no power");
  evc_gate_options_free(options);
}

static void rows_are_gated(void) {
  const char* candidate =
      "{\"task\": \"bfcl\", \"metric\": \"accuracy\", \"score\": 0.75}\nno row\n\xFF\n"
      "{\"task\": \"tau\", \"metric\": \"accuracy\", \"score\": 0.5}\n";
  const char* baseline =
      "{\"task\": \"bfcl\", \"metric\": \"accuracy\", \"score\": 0.875}\n"
      "{\"task\": \"tau\", \"metric\": \"accuracy\", \"score\": 0.5}\n";
  const char* spec =
      "{\"baseline\": \"b.jsonl\", \"suites\": [{\"name\": \"calls\", \"task\": \"bfcl\", \"threshold\": "
      "12.5}]}";
  evc_text* told = NULL;
  evc_error* error = NULL;
  int32_t verdict = 0;
  evc_gate_rows_options* options = evc_gate_rows_options_new();
  check(evc_gate_rows(str(candidate), str(baseline), NULL, &verdict, &told, NULL) == EVC_OK,
        "rows are gated");
  check(verdict == EVC_GATE_FAIL, "12.5 points are more than 2");
  check(has(evc_text_view(told), "\"failedCount\" : 1,\n") &&
            has(evc_text_view(told), "\"deltaPP\" : -12.5,\n"),
        "which is said");
  evc_text_free(told);
  check(evc_gate_rows_options_set_spec(options, str(spec), NULL) == EVC_OK, "a spec is taken");
  check(evc_gate_rows_options_set_passes(options, 3) == EVC_OK, "so are passes");
  check(evc_gate_rows_options_set_budget(options, str("{\"infra_patches\": [], \"max_steps\": 8}"), NULL) ==
            EVC_OK,
        "and a budget");
  check(evc_gate_rows(str(candidate), str(baseline), options, &verdict, &told, NULL) == EVC_OK &&
            verdict == EVC_GATE_PASS,
        "of 12.5 that are allowed they are not more");
  check(equal(evc_text_view(told),
              "{\n  \"failedCount\" : 0,\n  \"missingCount\" : 0,\n  \"passed\" : true,\n"
              "  \"protocol\" : {\n    \"budget\" : {\n      \"infra_patches\" : [\n\n      ],\n"
              "      \"max_steps\" : 8\n    },\n    \"passes\" : 3\n  },\n  \"suites\" : [\n    {\n"
              "      \"baselineScore\" : 0.875,\n      \"candidateScore\" : 0.75,\n"
              "      \"deltaPP\" : -12.5,\n      \"direction\" : \"higherIsBetter\",\n"
              "      \"metric\" : \"accuracy\",\n      \"name\" : \"calls\",\n      \"task\" : \"bfcl\",\n"
              "      \"thresholdPP\" : 12.5,\n      \"verdict\" : \"pass\"\n    }\n  ]\n}"),
        "every byte is the file's");
  evc_text_free(told);
  check(evc_gate_rows_options_set_spec(options, str("{\"suites\": []}"), &error) == EVC_E_INVALID_ARGUMENT,
        "no spec");
  check(has(evc_error_message(error), "no baseline") &&
            has(evc_gate_rows_options_refusal(options), "no baseline"),
        "which is said");
  evc_error_free(error);
  check(evc_gate_rows_options_set_budget(options, str("[]"), NULL) == EVC_E_INVALID_ARGUMENT, "no budget");
  check(evc_gate_rows_options_set_passes(options, 0) == EVC_E_INVALID_ARGUMENT, "no passes");
  check(evc_gate_rows_options_set_threshold(options, -1) == EVC_E_INVALID_ARGUMENT, "a negative threshold");
  check(evc_gate_rows(str("{\"task\": \"t\", \"metric\": \"m\", \"score\": 1e308}"),
                      str("{\"task\": \"t\", \"metric\": \"m\", \"score\": -1e308}"), NULL, &verdict, &told,
                      &error) == EVC_E_INVALID_ARGUMENT,
        "scores beyond what can be compared");
  check(told == NULL && verdict == EVC_GATE_INCONCLUSIVE && has(evc_error_message(error), "metric m"),
        "which are named");
  evc_error_free(error);
  evc_gate_rows_options_free(options);
}

/* (1.645 + 0.842)² · 0.1 / 0.02² = 1545.4 by the normal distribution; the t distribution adds less than two.
 */
static void a_gate_is_planned(void) {
  evc_text* told = NULL;
  evc_error* error = NULL;
  evc_power_options* options = evc_power_options_new();
  check(evc_power_plan(NULL, &told, NULL) == EVC_OK, "a gate is planned");
  check(has(evc_text_view(told), "\"items_needed\":1547,"), "by the defaults");
  check(has(evc_text_view(told), "\"items\":null,") && has(evc_text_view(told), "\"looks\":[]"),
        "without items and looks");
  evc_text_free(told);
  check(evc_power_options_set_spread(options, 0.5) == EVC_OK &&
            evc_power_options_set_differing(options, 0.25) == EVC_OK,
        "of differing and spread");
  check(evc_power_options_set_items(options, 100) == EVC_OK &&
            evc_power_options_set_looks(options, 2) == EVC_OK,
        "items and looks are taken");
  check(evc_power_plan(options, &told, NULL) == EVC_OK, "and counted");
  check(has(evc_text_view(told), "\"spread\":0.5,") && has(evc_text_view(told), "\"items\":100,"),
        "the last counts");
  check(has(evc_text_view(told), "\"looks\":[{\"fraction\":0.5,"), "two looks, the first at one half");
  evc_text_free(told);
  check(evc_power_options_set_difference(options, -0.3) == EVC_OK, "a true difference is taken");
  check(evc_power_plan(options, &told, &error) == EVC_E_INVALID_ARGUMENT && told == NULL,
        "which needs more items that differ");
  check(has(evc_error_message(error), "differing"), "which is said");
  evc_error_free(error);
  check(evc_power_options_set_looks(options, 51) == EVC_E_INVALID_ARGUMENT, "too many looks");
  check(equal(evc_power_options_refusal(options), "looks must be 1 to 50"), "which is said");
  evc_power_options_free(options);
}

static void misuse(void) {
  evc_str broken;
  evc_text* told = NULL;
  evc_error* error = NULL;
  char nothing = 0;
  broken.data = "caf\xE9";
  broken.size = 4;
  told = (evc_text*)(void*)&nothing;
  check(evc_suite_score(NULL, str("x"), NULL, NULL, NULL, &told, &error) == EVC_E_INVALID_ARGUMENT,
        "no suite");
  check(told == NULL && equal(evc_error_detail(error), "null"), "is named, and leaves nothing behind");
  evc_error_free(error);
  check(evc_compare_runs(&broken, 1, str(""), str(""), &told, &error) == EVC_E_INVALID_ARGUMENT, "no UTF-8");
  check(equal(evc_error_detail(error), "not_utf8"), "is named");
  evc_error_free(error);
  check(evc_compare_runs(NULL, 2, str(""), str(""), &told, &error) == EVC_E_INVALID_ARGUMENT, "no runs");
  check(equal(evc_error_detail(error), "null"), "are named");
  evc_error_free(error);
  check(evc_compare_runs(NULL, 0, str(""), str(""), NULL, NULL) == EVC_E_INVALID_ARGUMENT, "no place");
  check(evc_gate_runs(NULL, 1, NULL, NULL, &told, NULL) == EVC_E_INVALID_ARGUMENT, "no runs to gate");
  check(evc_gate_runs(NULL, 0, NULL, NULL, NULL, NULL) == EVC_E_INVALID_ARGUMENT, "nor a place");
  broken.data = NULL;
  check(evc_gate_rows(broken, str(""), NULL, NULL, &told, NULL) == EVC_E_INVALID_ARGUMENT,
        "a size without data");
  check(evc_gate_rows(str(""), str(""), NULL, NULL, NULL, NULL) == EVC_E_INVALID_ARGUMENT,
        "no place for rows");
  check(evc_power_plan(NULL, NULL, NULL) == EVC_E_INVALID_ARGUMENT, "no place for a plan");
  check(evc_score_options_set_limit(NULL, 1) == EVC_E_INVALID_ARGUMENT &&
            evc_gate_options_set_margin(NULL, 0.1) == EVC_E_INVALID_ARGUMENT &&
            evc_gate_rows_options_set_passes(NULL, 1) == EVC_E_INVALID_ARGUMENT &&
            evc_power_options_set_items(NULL, 2) == EVC_E_INVALID_ARGUMENT,
        "no options");
  check(evc_score_options_refusal(NULL).size == 0 && evc_gate_options_refusal(NULL).size == 0 &&
            evc_gate_rows_options_refusal(NULL).size == 0 && evc_power_options_refusal(NULL).size == 0,
        "have no refusals");
  evc_score_options_free(NULL);
  evc_gate_options_free(NULL);
  evc_gate_rows_options_free(NULL);
  evc_power_options_free(NULL);
}

int main(void) {
  make_folder();
  open_script();
  if (failures > 0) return verdict();
  write_file("suite.jsonl", suite_lines);
  run_suite("base");
  run_suite("tuned");
  write_file("suite.jsonl", "{\"id\": 1, \"prompt\": \"hi\", \"target\": \"goodbye\"}\n");
  run_suite("wrong");
  write_file("suite.jsonl", suite_lines);
  replies_are_scored();
  runs_are_compared();
  runs_are_gated();
  rows_are_gated();
  a_gate_is_planned();
  misuse();
  close_script();
  remove_folder();
  return verdict();
}
