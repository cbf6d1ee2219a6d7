/* A runtime and a backend that answers from the script, for test programs in C. */
#ifndef TESTS_CAPI_SCRIPTED_H
#define TESTS_CAPI_SCRIPTED_H

#include "host.h"

static evc_runtime* runtime = NULL;
static evc_backend* scripted = NULL;

static inline void open_script(void) {
  evc_backend_options* options = evc_backend_options_new();
  evc_error* error = NULL;
  check(evc_runtime_new(&runtime, NULL) == EVC_OK, "a runtime starts");
  check(evc_backend_options_set_script(options, str(DATA "/script.jsonl")) == EVC_OK, "a script is taken");
  check(evc_backend_open(runtime, str("scripted"), options, &scripted, &error) == EVC_OK,
        "a script is opened");
  if (error != NULL) printf("%.*s\n", (int)evc_error_message(error).size, evc_error_message(error).data);
  evc_error_free(error);
  evc_backend_options_free(options);
}

static inline void close_script(void) {
  evc_backend_free(scripted);
  evc_runtime_free(runtime);
}

#endif
