#ifndef EVALCORE_C_ERROR_H
#define EVALCORE_C_ERROR_H

#include <stddef.h>

#include <evalcore/c/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Text by its length: UTF-8, not terminated. The layout of this struct never changes. */
typedef struct evc_str {
  const char* data; /**< May be NULL where size is 0. */
  size_t size;
} evc_str;

/** 0 is success, a negative value a failure. A caller treats a value that it does not know as EVC_E_INTERNAL.
 */
typedef int32_t evc_status;

enum {
  EVC_OK = 0,
  EVC_E_INVALID_ARGUMENT = -1,  /**< The caller's mistake. */
  EVC_E_UNSUPPORTED = -2,       /**< The engine or the build cannot do this. */
  EVC_E_NOT_FOUND = -3,         /**< What was named does not exist. */
  EVC_E_BUSY = -4,              /**< No room now. */
  EVC_E_CLOSED = -5,            /**< The object was shut down, or belongs to a process that forked. */
  EVC_E_STORAGE = -6,           /**< A file cannot be read or written. */
  EVC_E_BAD_SUITE = -7,         /**< A suite that cannot be read. */
  EVC_E_NO_MEMORY = -8,         /**< Out of memory. */
  EVC_E_INTERNAL = -9,          /**< A bug in evalcore. */
  EVC_E_RATE_LIMITED = -20,     /**< Too many requests. */
  EVC_E_OVERLOADED = -21,       /**< The queue is full. */
  EVC_E_TRANSPORT = -22,        /**< No connection, or a broken one. */
  EVC_E_TIMEOUT = -23,          /**< A deadline passed. */
  EVC_E_TRUNCATED = -24,        /**< An answer without its end. */
  EVC_E_BAD_REPLY = -25,        /**< Bytes that are no answer. */
  EVC_E_BACKEND_FAULT = -26,    /**< The engine failed. */
  EVC_E_INVALID_REQUEST = -40,  /**< The same request would fail again. */
  EVC_E_CONTEXT_OVERFLOW = -41, /**< The prompt does not fit the model's context. */
  EVC_E_AUTH = -42,             /**< Not allowed. */
  EVC_E_QUOTA = -43,            /**< Out of an allowance. */
  EVC_E_REFUSED_CONTENT = -44,  /**< A filter refused. */
  EVC_E_CANCELLED = -45         /**< The host asked for it, or it reads too slowly. */
};

/** The name of a status ("invalid_argument"; "ok" for EVC_OK), NUL-terminated, in static storage. Any thread.
 * Never fails. */
EVC_API const char* evc_status_name(evc_status status) EVC_NOEXCEPT;

/**
 * Why a call or a request failed. One thread at a time. The functions below take NULL as "no error": status
 * EVC_OK and empty texts.
 */
typedef struct evc_error evc_error;

/** Its class: what the function that gave it returned. */
EVC_API evc_status evc_error_status(const evc_error* error) EVC_NOEXCEPT;
/** A sentence for a person. Borrowed until the error is freed. */
EVC_API evc_str evc_error_message(const evc_error* error) EVC_NOEXCEPT;
/** A finer word than the class ("queue_full"), maybe empty. Borrowed until the error is freed. */
EVC_API evc_str evc_error_detail(const evc_error* error) EVC_NOEXCEPT;
/** At what it failed: "config", "suite", "start", "connect", "send", "first_byte", "body", "decode", "store",
 * "score"; empty where that does not matter. Borrowed until the error is freed. */
EVC_API evc_str evc_error_stage(const evc_error* error) EVC_NOEXCEPT;
/** What the backend itself said, at most 1 KiB, maybe empty; it may hold words of the request. Borrowed until
 * the error is freed. */
EVC_API evc_str evc_error_backend_words(const evc_error* error) EVC_NOEXCEPT;
/** 1 if the same request may succeed later, else 0. */
EVC_API int32_t evc_error_is_retryable(const evc_error* error) EVC_NOEXCEPT;
/** The HTTP status that goes with it; 0: none. */
EVC_API int32_t evc_error_http_status(const evc_error* error) EVC_NOEXCEPT;
/** NULL is fine. An error that belongs to an event is left alone. */
EVC_API void evc_error_free(evc_error* error) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
