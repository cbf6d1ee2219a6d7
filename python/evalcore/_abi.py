"""The native library: where it is, and what its functions take and give."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys

ABI_MAJOR, ABI_MINOR = 1, 0
LIBRARY = "libevalcore.1.dylib" if sys.platform == "darwin" else "libevalcore.so.1"


class InStr(ctypes.Structure):
    """evc_str as an argument. It keeps its bytes alive."""

    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class OutStr(ctypes.Structure):
    """evc_str as a result. A c_char_p would end at the first NUL."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Tokens(ctypes.Structure):
    """evc_tokens."""

    _fields_ = [("data", ctypes.POINTER(ctypes.c_int32)), ("size", ctypes.c_size_t)]


ARGUMENTS = {
    "handle": ctypes.c_void_p,
    "handles": ctypes.POINTER(ctypes.c_void_p),
    "str": InStr,
    "strs": ctypes.POINTER(InStr),
    "tokens": Tokens,
    "status": ctypes.c_int32,
    "i32": ctypes.c_int32,
    "i32*": ctypes.POINTER(ctypes.c_int32),
    "i64": ctypes.c_int64,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "u64*": ctypes.POINTER(ctypes.c_uint64),
    "size": ctypes.c_size_t,
    "size*": ctypes.POINTER(ctypes.c_size_t),
    "f64": ctypes.c_double,
}
RESULTS = {**ARGUMENTS, "str": OutStr, "void": None, "cstr": ctypes.c_char_p}

# Name, result, arguments. `handle` is a pointer to something opaque, `handles` a place for one or many of them.
TABLE = """
evc_abi_version                             u32
evc_version_string                          cstr

evc_status_name                             cstr    status
evc_error_status                            status  handle
evc_error_message                           str     handle
evc_error_detail                            str     handle
evc_error_stage                             str     handle
evc_error_backend_words                     str     handle
evc_error_is_retryable                      i32     handle
evc_error_http_status                       i32     handle
evc_error_free                              void    handle

evc_text_view                               str     handle
evc_text_free                               void    handle

evc_runtime_new                             status  handles handles
evc_runtime_free                            void    handle

evc_backend_options_new                     handle
evc_backend_options_free                    void    handle
evc_backend_options_refusal                 str     handle
evc_backend_options_cancel_open             status  handle
evc_backend_options_set_model               status  handle str
evc_backend_options_set_base_url            status  handle str
evc_backend_options_set_dialect             status  handle str
evc_backend_options_set_api                 status  handle str
evc_backend_options_set_anthropic_version   status  handle str
evc_backend_options_set_api_key_env         status  handle str
evc_backend_options_set_api_key_file        status  handle str
evc_backend_options_set_api_key_command     status  handle str
evc_backend_options_set_api_key_header      status  handle str
evc_backend_options_add_header              status  handle str str
evc_backend_options_add_query               status  handle str str
evc_backend_options_set_ca_file             status  handle str
evc_backend_options_set_tls_server_name     status  handle str
evc_backend_options_set_insecure            status  handle i32
evc_backend_options_set_stream              status  handle i32
evc_backend_options_set_slots               status  handle u32
evc_backend_options_set_context_per_slot    status  handle u32
evc_backend_options_set_threads             status  handle u32
evc_backend_options_set_evaluation          status  handle str
evc_backend_options_set_verdict_folder      status  handle str
evc_backend_options_set_cache_max_bytes     status  handle u64
evc_backend_options_set_server_program      status  handle str
evc_backend_options_set_port                status  handle u16
evc_backend_options_add_backend_arg         status  handle str
evc_backend_options_set_share_prefix        status  handle i32
evc_backend_options_set_ready_timeout_s     status  handle u32
evc_backend_options_set_script              status  handle str
evc_backend_options_set_connect_timeout_s   status  handle f64
evc_backend_options_set_first_byte_timeout_s status handle f64
evc_backend_options_set_idle_timeout_s      status  handle f64
evc_backend_options_set_attempt_timeout_s   status  handle f64
evc_backend_open                            status  handle str handle handles handles
evc_backend_info                            status  handle handles handles
evc_backend_free                            void    handle
evc_backend_new_host                        status  handle str str handles handles
evc_backend_answer                          status  handle u64 str handles
evc_backend_fail                            status  handle u64 status str
evc_backend_poll                            status  handle i32 handles
evc_backend_wake                            status  handle
evc_backend_event_fd                        i32     handle

evc_request_new                             handle
evc_request_free                            void    handle
evc_request_refusal                         str     handle
evc_request_set_model                       status  handle str
evc_request_add_message                     status  handle i32 str
evc_request_add_messages                    status  handle str handles
evc_request_set_tools                       status  handle str handles
evc_request_set_params                      status  handle str handles
evc_request_set_cache_key                   status  handle str
evc_request_set_stream                      status  handle i32
evc_request_set_context                     status  handle str
evc_request_set_context_tokens              status  handle tokens
evc_request_add_continuation                status  handle str
evc_request_add_continuation_tokens         status  handle tokens

evc_event_kind                              i32     handle
evc_event_ticket                            u64     handle
evc_event_tag                               u64     handle
evc_event_text                              str     handle
evc_event_json                              str     handle
evc_event_reply                             handle  handle
evc_event_error                             handle  handle
evc_event_free                              void    handle
evc_reply_json                              str     handle

evc_pool_options_new                        handle
evc_pool_options_free                       void    handle
evc_pool_options_refusal                    str     handle
evc_pool_options_set_concurrency            status  handle u32
evc_pool_options_set_auto_concurrency       status  handle u32
evc_pool_options_set_retries                status  handle u32
evc_pool_options_set_max_wait_s             status  handle f64
evc_pool_options_set_max_outage_s           status  handle f64
evc_pool_options_set_max_errors             status  handle u64
evc_pool_options_set_requests_per_minute    status  handle u64
evc_pool_options_set_tokens_per_minute      status  handle u64
evc_pool_options_set_rate                   status  handle f64
evc_pool_options_set_item_timeout_s         status  handle f64
evc_pool_options_set_time_limit_s           status  handle f64
evc_pool_options_set_max_outstanding        status  handle u32
evc_pool_new                                status  handle handles size handle handles handles
evc_pool_submit                             status  handle handle u64 u64* handles
evc_pool_cancel                             status  handle u64
evc_pool_set_concurrency                    status  handle u32
evc_pool_shutdown                           status  handle i32
evc_pool_poll_many                          status  handle i32 handles size size*
evc_pool_wake                               status  handle
evc_pool_event_fd                           i32     handle
evc_pool_figures                            status  handle handles handles
evc_pool_free                               void    handle

evc_engine_options_new                      handle
evc_engine_options_free                     void    handle
evc_engine_options_refusal                  str     handle
evc_engine_options_set_max_batch_size       status  handle u32
evc_engine_options_set_max_queue_size       status  handle u32
evc_engine_options_set_batch_wait_ms        status  handle u32
evc_engine_options_set_queue_timeout_s      status  handle f64
evc_engine_options_set_output_queue_size    status  handle u32
evc_engine_options_set_per_row_sampling     status  handle i32
evc_engine_options_set_cache_max_bytes      status  handle u64
evc_engine_options_set_cache_max_snapshots  status  handle u32
evc_engine_options_set_context_tokens       status  handle u32
evc_engine_options_set_threads              status  handle u32
evc_engine_options_set_evaluation           status  handle str
evc_engine_options_set_verdict_folder       status  handle str
evc_engine_request_new                      handle
evc_engine_request_free                     void    handle
evc_engine_request_set_prompt               status  handle str i32
evc_engine_request_set_prompt_tokens        status  handle tokens
evc_engine_request_set_messages             status  handle str handles
evc_engine_request_set_max_tokens           status  handle u32
evc_engine_request_set_temperature          status  handle f64
evc_engine_request_set_top_p                status  handle f64
evc_engine_request_set_top_k                status  handle u32
evc_engine_request_set_seed                 status  handle u64
evc_engine_request_set_controls             status  handle str handles
evc_engine_request_add_stop                 status  handle str
evc_engine_request_set_logprobs             status  handle u32
evc_engine_request_add_continuation         status  handle tokens
evc_engine_request_set_cache                status  handle str str
evc_engine_request_add_cache_cut            status  handle u32
evc_engine_request_set_progress             status  handle i32
evc_engine_new_table                        status  handle handle handle handles handles
evc_engine_open                             status  str handle handles handles
evc_engine_submit                           status  handle handle u64 u64* handles
evc_engine_cancel                           void    handle u64
evc_engine_poll                             status  handle i32 handles
evc_engine_wake                             status  handle
evc_engine_event_kind                       i32     handle
evc_engine_event_tag                        u64     handle
evc_engine_event_token                      i32     handle
evc_engine_event_text                       str     handle
evc_engine_event_json                       str     handle
evc_engine_event_error                      handle  handle
evc_engine_event_free                       void    handle
evc_engine_free                             void    handle

evc_episodes_options_new                    handle
evc_episodes_options_free                   void    handle
evc_episodes_options_refusal                str     handle
evc_episodes_options_set_suite              status  handle str
evc_episodes_options_set_pool               status  handle handle
evc_episodes_options_set_max_turns          status  handle u32
evc_episodes_options_set_max_tokens         status  handle u64
evc_episodes_options_set_max_time_s         status  handle f64
evc_episodes_options_set_max_cost           status  handle f64
evc_episodes_open                           status  handle handles size str handle handles handles
evc_episodes_begin                          status  handle str u32 handle u64 u64* handles
evc_episodes_next                           status  handle u64 handle handles
evc_episodes_next_whole                     status  handle u64 handle handles
evc_episodes_add_cost                       status  handle u64 f64 handles
evc_episodes_end                            status  handle u64 str handles
evc_episodes_cancel                         status  handle u64 handles
evc_episodes_finish                         status  handle handles handles
evc_episodes_poll                           status  handle i32 handles
evc_episodes_wake                           status  handle
evc_episodes_event_fd                       i32     handle
evc_episodes_free                           void    handle

evc_suite_open                              status  str str handles handles
evc_suite_open_text                         status  str str handles handles
evc_suite_free                              void    handle
evc_suite_plan                              status  handle handle handle handles handles

evc_score_options_new                       handle
evc_score_options_free                      void    handle
evc_score_options_refusal                   str     handle
evc_score_options_set_scorer                status  handle str
evc_score_options_set_limit                 status  handle u64
evc_suite_score                             status  handle str handle handles u64* handles handles
evc_compare_runs                            status  strs size str str handles handles
evc_gate_options_new                        handle
evc_gate_options_free                       void    handle
evc_gate_options_refusal                    str     handle
evc_gate_options_set_margin                 status  handle f64
evc_gate_options_set_alpha                  status  handle f64
evc_gate_options_set_power                  status  handle f64
evc_gate_options_set_suite                  status  handle str
evc_gate_options_set_answers                status  handle str
evc_gate_runs                               status  strs size handle i32* handles handles
evc_gate_rows_options_new                   handle
evc_gate_rows_options_free                  void    handle
evc_gate_rows_options_refusal               str     handle
evc_gate_rows_options_set_spec              status  handle str handles
evc_gate_rows_options_set_threshold         status  handle f64
evc_gate_rows_options_set_passes            status  handle u32
evc_gate_rows_options_set_budget            status  handle str handles
evc_gate_rows                               status  str str handle i32* handles handles
evc_power_options_new                       handle
evc_power_options_free                      void    handle
evc_power_options_refusal                   str     handle
evc_power_options_set_margin                status  handle f64
evc_power_options_set_alpha                 status  handle f64
evc_power_options_set_power                 status  handle f64
evc_power_options_set_difference            status  handle f64
evc_power_options_set_differing             status  handle f64
evc_power_options_set_spread                status  handle f64
evc_power_options_set_items                 status  handle u64
evc_power_options_set_looks                 status  handle u32
evc_power_plan                              status  handle handles handles

evc_run_options_new                         handle
evc_run_options_free                        void    handle
evc_run_options_refusal                     str     handle
evc_run_options_cancel_plan                 status  handle
evc_run_options_set_out                     status  handle str
evc_run_options_set_store                   status  handle str
evc_run_options_set_task                    status  handle str
evc_run_options_set_order                   status  handle str
evc_run_options_set_limit                   status  handle u64
evc_run_options_set_shard                   status  handle u32 u32
evc_run_options_set_pool                    status  handle handle
evc_run_options_set_params                  status  handle str handles
evc_run_options_set_tools                   status  handle str
evc_run_options_set_prompt_cache            status  handle i32
evc_run_options_set_cache                   status  handle str
evc_run_options_set_cache_sampled           status  handle i32
evc_run_options_set_price                   status  handle str
evc_run_options_set_max_cost                status  handle f64
evc_run_options_set_noise_floor             status  handle u64
evc_run_options_set_probe                   status  handle i32
evc_run_options_set_model_name              status  handle str
evc_run_options_set_model_step              status  handle i64
evc_run_options_set_baseline                status  handle i32
evc_run_options_set_host_scorer             status  handle str
evc_run_start                               status  handle handle handles size handle handles handles
evc_run_cancel                              status  handle
evc_run_set_concurrency                     status  handle u32
evc_run_score                               status  handle u64 str handles
evc_run_unscored                            status  handle u64 str handles
evc_run_poll                                status  handle i32 handles
evc_run_wake                                status  handle
evc_run_event_fd                            i32     handle
evc_run_free                                void    handle
"""
FUNCTIONS = {words[0]: (words[1], tuple(words[2:])) for words in map(str.split, TABLE.splitlines()) if words}


def check_version(version: int) -> None:
    """Raises ImportError unless a library of this ABI (major << 16 | minor) has all that is used here."""
    major, minor = version >> 16, version & 0xFFFF
    if major != ABI_MAJOR or minor < ABI_MINOR:
        raise ImportError(f"evalcore's library has ABI {major}.{minor}; this package needs {ABI_MAJOR}.{ABI_MINOR}")


def find() -> str:
    """The library of the wheel; in a source tree the one that EVALCORE_LIBRARY names."""
    inside = pathlib.Path(__file__).parent / "lib" / LIBRARY
    if inside.exists():
        return str(inside)
    named = os.environ.get("EVALCORE_LIBRARY")
    if not named:
        raise ImportError(f"{inside} is not there, and EVALCORE_LIBRARY does not name another {LIBRARY}")
    return named


def load(path: str) -> ctypes.CDLL:
    """Loads the library and declares every function. ImportError: it is not there, or is of another ABI."""
    try:
        # CDLL lets go of the GIL during a call; PyDLL would not, and a poll would stop all threads.
        library = ctypes.CDLL(path)
        library.evc_abi_version.restype = ctypes.c_uint32
        library.evc_abi_version.argtypes = []
        check_version(library.evc_abi_version())
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = RESULTS[result]
            function.argtypes = [ARGUMENTS[argument] for argument in arguments]
    except (OSError, AttributeError) as why:
        raise ImportError(f"cannot load evalcore's library: {why}") from why
    return library


lib = load(find())
