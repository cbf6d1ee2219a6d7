"""What public reports say of other bindings (tests/data/public_reports.tsv)."""

import ctypes
import pathlib
import re
import resource
import threading

from conftest import REPOSITORY

from evalcore import _abi
from evalcore._native import make, take_text


def test_a_handle_of_64_bits_arrives_whole():
    assert all(getattr(_abi.lib, name).argtypes is not None for name in _abi.FUNCTIONS)
    made = []

    def use():
        # A thread's own memory lies high. Without argtypes and restype, ctypes would pass the lower half.
        made.append(_abi.lib.evc_request_new())
        made.append(_abi.lib.evc_request_set_stream(made[0], 1))
        _abi.lib.evc_request_free(made[0])

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert made[0] > 1 << 32 and made[1] == 0


def test_no_function_of_python_is_called_from_native_code():
    sources = list((REPOSITORY / "python/evalcore").rglob("*.py"))
    assert len(sources) > 10
    made = re.compile(r"CFUNCTYPE|PYFUNCTYPE|set_wakeup")
    assert [path.name for path in sources if made.search(path.read_text(encoding="utf-8"))] == []


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_100_000_texts_of_the_library_are_freed_once_each(scripted):
    backend = scripted({"text": "x"})

    def tell(times):
        for _ in range(times):
            with backend._handle as address:
                text = take_text(make(_abi.lib.evc_backend_info, address))
        return text

    said = tell(1000)
    before = resident()
    assert tell(100_000) == said
    # Each has some 500 bytes: what was not freed would be fifty times as much.
    assert resident() - before < 1 << 20
    assert _abi.lib.evc_text_view.restype is _abi.OutStr and _abi.OutStr._fields_[0][1] is ctypes.c_void_p
