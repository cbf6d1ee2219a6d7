"""What a whole process does: its end, its locale, its children, its memory."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from conftest import REPOSITORY

EVENTS = int(os.environ.get("EVALCORE_EVENTS", "20000"))


@pytest.fixture
def python(write_lines):
    """Begins a program with the package, `script` being a file of a slow and a quick reply."""
    script = write_lines("s.jsonl", {"match": "slow", "text": "late", "delay_ms": 60_000}, {"text": "Zürich"})

    def begin(program, **environment):
        path = {"PYTHONPATH": str(REPOSITORY / "python"), "SCRIPT": str(script)}
        return subprocess.Popen(
            [sys.executable, "-c", f"import os, evalcore\nscript = os.environ['SCRIPT']\n{program}"],
            env={**os.environ, **path, **environment}, text=True, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return begin


BEGIN = """
backend = evalcore.Backend("scripted", script=script)
pool = evalcore.Pool(backend, concurrency=16)
left = [pool.submit("slow") for _ in range(10)]
"""
THREAD = """
import contextlib, threading, time
def wait():
    with contextlib.suppress(evalcore.EvalcoreError):
        left[0].result()
threading.Thread(target=wait, daemon=True).start()
time.sleep(0.3)
"""
LOOP = """
import asyncio
async def leave():
    waiting = [asyncio.ensure_future(pool.ask("slow")) for _ in range(5)]
    await asyncio.sleep(0.2)
asyncio.run(leave())
"""
CYCLE = "left.append(left); backend.pool = pool\n"


@pytest.mark.parametrize("way", ["", THREAD, LOOP, CYCLE], ids=["plain", "thread", "loop", "cycle"])
def test_the_interpreter_ends_within_2_s_with_requests_in_flight(python, way):
    process = python(BEGIN + way + "print('end', flush=True)")
    assert process.stdout.readline() == "end\n"
    begun = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begun < 2
    assert (process.returncode, out, err) == (0, "", "")


def test_ctrl_c_ends_a_wait(python):
    process = python(BEGIN + "print('wait', flush=True)\nleft[0].result()")
    assert process.stdout.readline() == "wait\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=5)
    assert "KeyboardInterrupt" in err and process.returncode in (1, -signal.SIGINT)


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_texts_and_paths_are_utf_8_in_any_locale(python, locale, tmp_path, write_lines):
    path = pathlib.Path(write_lines("größe.jsonl", {"match": "Zürich 😀", "text": "jaß"}))
    program = f"""
import sys
backend = evalcore.Backend("scripted", script={str(path)!a})
sys.stdout.buffer.write(evalcore.Pool(backend).submit({"Zürich 😀?"!a}).result(10).text.encode())
"""
    process = python(program, LANG=locale, LC_ALL=locale, PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("jaß", 0), err


def test_a_child_after_fork_makes_what_it_needs_itself(python):
    program = """
backend = evalcore.Backend("scripted", script=script)
pool = evalcore.Pool(backend)
assert pool.submit("Hi").result(10).text == "Zürich"
child = os.fork()
if child == 0:
    try:
        pool.submit("Hi")
    except evalcore.errors.ClosedError:
        own = evalcore.Pool(evalcore.Backend("scripted", script=script))
        os._exit(7 if own.submit("Hi").result(10).text == "Zürich" else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert pool.submit("Hi").result(10).text == "Zürich"
"""
    process = python(program)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err


def test_two_copies_of_the_library_share_no_state(python, tmp_path):
    """A host may link one, and a plug-in bring another; that the names of both are global must not join them."""
    program = f"""
import ctypes, shutil, time
from evalcore import _abi, _native
path = os.path.realpath(_abi.find())
copy = shutil.copy(path, {str(tmp_path / "copy.so")!r})
for one in (path, copy):
    ctypes.CDLL(one, ctypes.RTLD_GLOBAL)
other = _abi.load(copy)
before = len(os.listdir("/proc/self/task"))
threads = []
def count(expected):
    # A thread that was joined stands there a moment longer.
    deadline = time.monotonic() + 10
    while (more := len(os.listdir("/proc/self/task")) - before) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    threads.append(more)
pool = evalcore.Pool(evalcore.Backend("scripted", script=script))
count(1)
runtime = _native.make(other.evc_runtime_new)
count(2)
answer = pool.submit("Hi").result(10).text
other.evc_runtime_free(runtime)
count(1)
print(threads, answer, pool.submit("Hi").result(10).text)
"""
    process = python(program)
    out, err = process.communicate(timeout=30)
    assert out == "[1, 2, 1] Zürich Zürich\n", err


def test_many_events_under_forced_collections_leak_nothing(python):
    """EVALCORE_EVENTS=1000000 makes it a long one."""
    program = f"""
import gc, json, resource
gc.set_threshold(50, 2, 2)
def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
pool = evalcore.Pool(evalcore.Backend("scripted", script=script), concurrency=256)
request = evalcore.Request("Hi")
def ask(count):
    ended = asked = 0
    while ended < count:
        while asked < count and asked - ended < 1000:
            pool.submit(request)
            asked += 1
        ended += len(pool.poll(10))
    return ended
ask(5000)
gc.collect()
before = memory()
ended = ask({EVENTS})
gc.collect()
print(json.dumps([ended, memory() - before, len(pool._pending)]))
"""
    process = python(program)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    ended, grown, left = json.loads(out)
    assert (ended, left) == (EVENTS, 0)
    assert grown < 16 * 2**20
