#ifndef EVALCORE_C_BACKEND_H
#define EVALCORE_C_BACKEND_H

#include <evalcore/c/runtime.h>
#include <evalcore/c/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How a backend is reached or started. Each function is named after the option of the `evalcore` command that
 * means the same, where there is one (docs/backends.md). One thread at a time. Texts are copied during the
 * call. A value out of its range is refused with EVC_E_INVALID_ARGUMENT and changes nothing; an option that
 * the backend has no use for is refused when it is opened.
 */
typedef struct evc_backend_options evc_backend_options;

/** Everything at its default. NULL: no memory. Caller frees with evc_backend_options_free. */
EVC_API evc_backend_options* evc_backend_options_new(void) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_backend_options_free(evc_backend_options* options) EVC_NOEXCEPT;
/** Why the last call that set an option was refused, a sentence for a person; empty: it was not. Borrowed
 * until the next call that sets one. */
EVC_API evc_str evc_backend_options_refusal(const evc_backend_options* options) EVC_NOEXCEPT;
/** Each evc_backend_open with these options that waits, or comes later, ends with EVC_E_CANCELLED. What
 * others open is left alone. Any thread, also meanwhile. */
EVC_API evc_status evc_backend_options_cancel_open(evc_backend_options* options) EVC_NOEXCEPT;

/** A model's file or folder, or its name at a server. Every backend but "scripted". */
EVC_API evc_status evc_backend_options_set_model(evc_backend_options* options, evc_str model) EVC_NOEXCEPT;

/* Of servers at a URL: "openai-url" and "anthropic-url". */

/** Such as "http://127.0.0.1:8080/v1". */
EVC_API evc_status evc_backend_options_set_base_url(evc_backend_options* options, evc_str url) EVC_NOEXCEPT;
/** The server's ways by name. Default: those that all servers of its API have. */
EVC_API evc_status evc_backend_options_set_dialect(evc_backend_options* options, evc_str name) EVC_NOEXCEPT;
/** "chat" (the default); "responses", of "openai-url"; "completions", without a template, also "embedded". */
EVC_API evc_status evc_backend_options_set_api(evc_backend_options* options, evc_str name) EVC_NOEXCEPT;
/** Such as "2023-06-01", the default; of "anthropic-url" only. */
EVC_API evc_status evc_backend_options_set_anthropic_version(evc_backend_options* options,
                                                             evc_str version) EVC_NOEXCEPT;
/** The name of the environment variable that holds the key; it is read when the backend is opened. */
EVC_API evc_status evc_backend_options_set_api_key_env(evc_backend_options* options,
                                                       evc_str variable) EVC_NOEXCEPT;
/** A file that holds the key and that only its owner can read. */
EVC_API evc_status evc_backend_options_set_api_key_file(evc_backend_options* options,
                                                        evc_str path) EVC_NOEXCEPT;
/** A program and its arguments, parted by blanks, that prints the key. */
EVC_API evc_status evc_backend_options_set_api_key_command(evc_backend_options* options,
                                                           evc_str command) EVC_NOEXCEPT;
/** How the key travels: "bearer" or "x-api-key". Default: as the API has it. */
EVC_API evc_status evc_backend_options_set_api_key_header(evc_backend_options* options,
                                                          evc_str name) EVC_NOEXCEPT;
/** A header of every request. A value "env:NAME" is what the environment variable NAME holds. */
EVC_API evc_status evc_backend_options_add_header(evc_backend_options* options, evc_str name,
                                                  evc_str value) EVC_NOEXCEPT;
/** A parameter in the query of every request; a value as that of a header. */
EVC_API evc_status evc_backend_options_add_query(evc_backend_options* options, evc_str name,
                                                 evc_str value) EVC_NOEXCEPT;
/** A PEM file of the only authorities to trust. Default: the system's. */
EVC_API evc_status evc_backend_options_set_ca_file(evc_backend_options* options, evc_str path) EVC_NOEXCEPT;
/** The name that the server's certificate must hold. Default: the URL's host. */
EVC_API evc_status evc_backend_options_set_tls_server_name(evc_backend_options* options,
                                                           evc_str name) EVC_NOEXCEPT;
/** 1: who answers is not checked, so anybody in between can read the key and change the answers. Default 0.
 */
EVC_API evc_status evc_backend_options_set_insecure(evc_backend_options* options,
                                                    int32_t insecure) EVC_NOEXCEPT;
/** 0: answers are asked for in one piece, and no first token is seen. Default 1. */
EVC_API evc_status evc_backend_options_set_stream(evc_backend_options* options, int32_t stream) EVC_NOEXCEPT;

/* Of models on this machine: "embedded", and the servers that evalcore starts. */

/** Requests that are computed side by side, 1 to 256; "embedded": at most 64. Default 4. */
EVC_API evc_status evc_backend_options_set_slots(evc_backend_options* options, uint32_t slots) EVC_NOEXCEPT;
/** Tokens of one request, prompt and answer together, 16 to 10,000,000. Default 4096. */
EVC_API evc_status evc_backend_options_set_context_per_slot(evc_backend_options* options,
                                                            uint32_t tokens) EVC_NOEXCEPT;
/** Compute threads, 1 to 1,024. Default 1. */
EVC_API evc_status evc_backend_options_set_threads(evc_backend_options* options,
                                                   uint32_t threads) EVC_NOEXCEPT;

/* Of "embedded". */

/** "parity" (the default): an answer depends on nothing but its request. "fast": rounding errors of what runs
 * beside it may change a token. */
EVC_API evc_status evc_backend_options_set_evaluation(evc_backend_options* options,
                                                      evc_str name) EVC_NOEXCEPT;
/** A folder where what the comparison of bits at a model's load found is kept, so that a model is compared
 * once on a machine; made where it is missing. Default: none, so that each load compares, which takes
 * seconds. */
EVC_API evc_status evc_backend_options_set_verdict_folder(evc_backend_options* options,
                                                          evc_str path) EVC_NOEXCEPT;
/** Bytes that kept prefixes may take, above 0 (`--cache-memory-max-gb`, but in bytes). Default: a quarter of
 * the working set, at most 8 GiB. */
EVC_API evc_status evc_backend_options_set_cache_max_bytes(evc_backend_options* options,
                                                           uint64_t bytes) EVC_NOEXCEPT;

/* Of servers that evalcore starts. */

/** A name on PATH, or a path. Default: the usual one. */
EVC_API evc_status evc_backend_options_set_server_program(evc_backend_options* options,
                                                          evc_str program) EVC_NOEXCEPT;
/** 0 (the default): a free one. */
EVC_API evc_status evc_backend_options_set_port(evc_backend_options* options, uint16_t port) EVC_NOEXCEPT;
/** Passed on to the program as it is. */
EVC_API evc_status evc_backend_options_add_backend_arg(evc_backend_options* options,
                                                       evc_str argument) EVC_NOEXCEPT;
/** 0: a computed prefix is not copied between slots. Default 1. */
EVC_API evc_status evc_backend_options_set_share_prefix(evc_backend_options* options,
                                                        int32_t share) EVC_NOEXCEPT;
/** Seconds until it must be ready, 1 to 86,400. Default 120. */
EVC_API evc_status evc_backend_options_set_ready_timeout_s(evc_backend_options* options,
                                                           uint32_t seconds) EVC_NOEXCEPT;

/* Of "scripted". */

/** A file of replies, delays and faults (docs/suite.md). */
EVC_API evc_status evc_backend_options_set_script(evc_backend_options* options, evc_str path) EVC_NOEXCEPT;

/* Deadlines of each request to a server, in seconds, 0 to 10,000,000; 0 is none. */

/** Resolve and connect. Default 5. */
EVC_API evc_status evc_backend_options_set_connect_timeout_s(evc_backend_options* options,
                                                             double seconds) EVC_NOEXCEPT;
/** Until the answer begins. Default 600. */
EVC_API evc_status evc_backend_options_set_first_byte_timeout_s(evc_backend_options* options,
                                                                double seconds) EVC_NOEXCEPT;
/** Between two pieces of the answer. Default 120. */
EVC_API evc_status evc_backend_options_set_idle_timeout_s(evc_backend_options* options,
                                                          double seconds) EVC_NOEXCEPT;
/** The whole request. Default 900. */
EVC_API evc_status evc_backend_options_set_attempt_timeout_s(evc_backend_options* options,
                                                             double seconds) EVC_NOEXCEPT;

/** Who answers requests. Any thread. */
typedef struct evc_backend evc_backend;

/**
 * Reaches or starts a backend and waits until it is ready, which may take minutes;
 * evc_backend_options_cancel_open and evc_runtime_interrupt end the wait. `selector` is a name that `evalcore
 * backends` lists, such as "openai-url". `options` NULL: the defaults.
 *
 * On failure *out is NULL, and *error, where error is not NULL, says why: caller frees with evc_error_free.
 * EVC_E_INVALID_ARGUMENT: what was named or left out wrongly. EVC_E_NOT_FOUND: a program, a file, a model.
 * EVC_E_TRANSPORT, EVC_E_TIMEOUT, EVC_E_AUTH, EVC_E_BACKEND_FAULT: the server cannot be reached, is not ready
 * in time, does not let in, died. Any thread. Caller frees with evc_backend_free.
 */
EVC_API evc_status evc_backend_open(evc_runtime* runtime, evc_str selector,
                                    const evc_backend_options* options, evc_backend** out,
                                    evc_error** error) EVC_NOEXCEPT;
/**
 * A JSON object: {selector, dialect, model, sent_model, address, slots, context_per_slot, identity, notes,
 * capabilities}. `sent_model` is the model's name in requests to a server, `address` where the server
 * listens, such as "http://127.0.0.1:8080". What is not known is null; capabilities are "yes", "no" or
 * "unknown". Caller frees with evc_text_free.
 */
EVC_API evc_status evc_backend_info(const evc_backend* backend, evc_text** out,
                                    evc_error** error) EVC_NOEXCEPT;
/** A server that evalcore started ends with the last pool, run or episodes that use the backend. NULL is
 * fine. */
EVC_API void evc_backend_free(evc_backend* backend) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
