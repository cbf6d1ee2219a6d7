/* Pools on a script, for test programs in C. */
#ifndef TESTS_CAPI_SCRIPTED_POOL_H
#define TESTS_CAPI_SCRIPTED_POOL_H

#include "scripted.h"

static inline evc_pool* pool_of(evc_pool_options* options) {
  evc_pool* pool = NULL;
  evc_error* error = NULL;
  check(evc_pool_new(runtime, &scripted, 1, options, &pool, &error) == EVC_OK, "a pool is made");
  evc_error_free(error);
  evc_pool_options_free(options);
  return pool;
}

static inline evc_pool* pool_of_concurrency(uint32_t requests) {
  evc_pool_options* options = evc_pool_options_new();
  check(evc_pool_options_set_concurrency(options, requests) == EVC_OK, "a concurrency is taken");
  return pool_of(options);
}

static inline evc_request* question(const char* text) {
  evc_request* request = evc_request_new();
  check(evc_request_add_message(request, EVC_ROLE_USER, str(text)) == EVC_OK, "a message is taken");
  return request;
}

static inline uint64_t submit(evc_pool* pool, evc_request* request, uint64_t tag) {
  uint64_t ticket = 0;
  evc_error* error = NULL;
  check(evc_pool_submit(pool, request, tag, &ticket, &error) == EVC_OK && ticket != 0, "a request is taken");
  evc_error_free(error);
  evc_request_free(request);
  return ticket;
}

/* The next event, which must be of this kind. */
static inline evc_event* next(evc_pool* pool, int32_t kind) {
  evc_event* event = NULL;
  check(evc_pool_poll(pool, 20000, &event) == EVC_OK, "an event comes in time");
  check(evc_event_kind(event) == kind, "the event is of the expected kind");
  return event;
}

#endif
