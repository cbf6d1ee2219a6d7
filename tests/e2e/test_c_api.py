"""The C ABI from Python by ctypes alone, beside the command: the same model, the same suite, one store."""

import asyncio
import ctypes
import json
import pathlib

import pytest

from conftest import MODEL, hi, summary

OK, END, DRAINED, RUN_END = 0, 3, 4, 7
USER = 3


class Str(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def to_str(text):
    encoded = str(text).encode()
    buffer = ctypes.create_string_buffer(encoded, len(encoded))
    made = Str(ctypes.addressof(buffer), len(encoded))
    made.buffer = buffer
    return made


def from_str(text):
    return ctypes.string_at(text.data, text.size).decode() if text.size else ""


class Library:
    """Handles are integers, statuses are checked, errors become exceptions."""

    HANDLE, STATUS = ctypes.c_void_p, ctypes.c_int32
    RESULTS = {
        "evc_event_kind": ctypes.c_int32, "evc_event_tag": ctypes.c_uint64, "evc_event_json": Str,
        "evc_event_reply": ctypes.c_void_p, "evc_event_error": ctypes.c_void_p, "evc_error_message": Str,
        "evc_reply_text": Str, "evc_reply_json": Str, "evc_reply_sum_logprob": ctypes.c_double,
        "evc_reply_is_greedy": ctypes.c_int32, "evc_pool_event_fd": ctypes.c_int32,
        "evc_pool_options_new": HANDLE, "evc_backend_options_new": HANDLE, "evc_request_new": HANDLE,
        "evc_run_options_new": HANDLE,
    }  # fmt: skip

    def __init__(self, path):
        self.loaded = ctypes.CDLL(str(path))

    def call(self, name, *arguments):
        function = getattr(self.loaded, name)
        function.restype = self.RESULTS.get(name, None if name.endswith("_free") else self.STATUS)
        given = [ctypes.c_void_p(one) if isinstance(one, int) else one for one in arguments]
        return function(*given)

    def set(self, name, *arguments):
        assert self.call(name, *arguments) == OK, name

    def make(self, name, *arguments):
        out, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = self.call(name, *arguments, ctypes.byref(out), ctypes.byref(error))
        message = from_str(self.call("evc_error_message", error.value or 0))
        self.call("evc_error_free", error.value or 0)
        assert status == OK, message
        return out.value

    def poll(self, name, owner, timeout_ms):
        event = ctypes.c_void_p()
        status = self.call(name, owner, ctypes.c_int32(timeout_ms), ctypes.byref(event))
        return event.value if status == OK else None


@pytest.fixture
def library(program):
    return Library(pathlib.Path(program).parent / "libevalcore.so")


@pytest.fixture
def opened(library):
    """A runtime and the tiny model in this process."""
    runtime = library.make("evc_runtime_new")
    options = library.call("evc_backend_options_new")
    library.set("evc_backend_options_set_model", options, to_str(MODEL))
    library.set("evc_backend_options_set_context_per_slot", options, ctypes.c_uint32(1024))
    backend = library.make("evc_backend_open", runtime, to_str("embedded"), options)
    library.call("evc_backend_options_free", options)
    yield runtime, (ctypes.c_void_p * 1)(backend)
    library.call("evc_backend_free", backend)
    library.call("evc_runtime_free", runtime)


def run_suite(library, opened, path, out):
    """The summary of a run through the C ABI."""
    runtime, backends = opened
    suite = library.make("evc_suite_open", to_str(path), to_str(""))
    options = library.call("evc_run_options_new")
    library.set("evc_run_options_set_out", options, to_str(out))
    library.set("evc_run_options_set_params", options, to_str('{"temperature": 0, "max_tokens": 8}'), None)
    run = library.make("evc_run_start", runtime, suite, backends, ctypes.c_size_t(1), options)
    told = None
    while event := library.poll("evc_run_poll", run, 60_000):
        if library.call("evc_event_kind", event) == RUN_END:
            told = json.loads(from_str(library.call("evc_event_json", event)))
        library.call("evc_event_free", event)
    for kind, handle in (("run", run), ("run_options", options), ("suite", suite)):
        library.call(f"evc_{kind}_free", handle)
    return told


def test_the_command_goes_on_from_a_run_of_the_c_api_and_the_other_way_round(
    library, opened, evalcore, write_suite, tmp_path
):
    suite = write_suite("s.jsonl", [hi(number) for number in range(4)])
    by_command = (
        "run",
        suite,
        "--model",
        MODEL,
        "--context-per-slot",
        "1024",
        "--temperature",
        0,
        "--max-tokens",
        8,
        "-q",
    )
    told = run_suite(library, opened, suite, tmp_path / "library")
    assert (told["items"], told["answered"], told["sent"]) == (4, 4, 4)
    assert evalcore(*by_command, "--out", "library").returncode == 0
    assert (summary(tmp_path / "library")["reused"], summary(tmp_path / "library")["sent"]) == (4, 0)

    assert evalcore(*by_command, "--out", "command").returncode == 0
    told = run_suite(library, opened, suite, tmp_path / "command")
    assert (told["reused"], told["sent"]) == (4, 0)
    same = ("score", "suite_hash", "backend", "metrics", "task")
    assert {key: told[key] for key in same} == {key: summary(tmp_path / "library")[key] for key in same}


def test_asyncio_waits_for_answers_and_scores_by_the_pools_descriptor(library, opened):
    runtime, backends = opened
    pool = library.make("evc_pool_new", runtime, backends, ctypes.c_size_t(1), None)
    ends = {}

    async def ask():
        loop = asyncio.get_running_loop()
        over = loop.create_future()

        def drain():
            while event := library.poll("evc_pool_poll", pool, 0):
                kind = library.call("evc_event_kind", event)
                if kind == END:
                    reply = library.call("evc_event_reply", event)
                    ends[library.call("evc_event_tag", event)] = json.loads(
                        from_str(library.call("evc_reply_json", reply))
                    )
                elif kind == DRAINED:
                    over.set_result(None)
                library.call("evc_event_free", event)

        loop.add_reader(library.call("evc_pool_event_fd", pool), drain)
        for tag in range(8):
            request = library.call("evc_request_new")
            if tag < 4:
                library.set("evc_request_add_message", request, ctypes.c_int32(USER), to_str("Hi"))
                library.set("evc_request_set_temperature", request, ctypes.c_double(0))
                library.set("evc_request_set_max_tokens", request, ctypes.c_uint32(8))
            else:
                library.set("evc_request_set_context", request, to_str("Hello"))
                for continuation in (" world", " there"):
                    library.set("evc_request_add_continuation", request, to_str(continuation))
            library.set("evc_pool_submit", pool, request, ctypes.c_uint64(tag), None, None)
            library.call("evc_request_free", request)
        library.set("evc_pool_shutdown", pool, ctypes.c_int32(0))
        await asyncio.wait_for(over, 60)
        loop.remove_reader(library.call("evc_pool_event_fd", pool))

    asyncio.run(ask())
    library.call("evc_pool_free", pool)
    assert sorted(ends) == list(range(8))
    texts = {ends[tag]["text"] for tag in range(4)}
    assert len(texts) == 1 and texts != {""}
    scores = [ends[tag]["scores"] for tag in range(4, 8)]
    assert all(one == scores[0] for one in scores)
    assert len(scores[0]) == 2 and all(one["sum_logprob"] < 0 for one in scores[0])
