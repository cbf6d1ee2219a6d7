"""llmock breaks a fifth of the requests at random, and judges its client by what it asked again and when.

EVALCORE_LLMOCK_ITEMS=170 makes more than a thousand calls of it; every run of the tests takes a fifth of that.
"""

import contextlib
import json
import os
import subprocess
import time

import pytest

from conftest import free_port, required, stored_replies, summary
from local_servers import status_of

ITEMS = int(os.environ.get("EVALCORE_LLMOCK_ITEMS", "34"))
STREAMED, WHOLE = [], ["--no-stream"]
# Apart, since llmock asks for a wait with these. evalcore then sends nothing at all before it is over, which
# evens out the delays of other requests, and those are what llmock judges where no wait was asked for.
STATUSES = [part for status in (429, 503, 504, 529) for part in ("--error-rate", f"{status}=0.05")]
STREAMS = ["--error-rate", "500=0.05", "--stream-fault", "disconnect=0.04", "--stream-fault", "truncate=0.04",
           "--stream-fault", "malformed=0.04", "--stream-fault", "stall=0.04", "--stream-stall-seconds", "12",
           # So slow that llmock sees who stops reading: what was sent to its end counts as answered.
           "--stream-chunk-delay-ms", "50"]


@pytest.fixture
def llmock(tmp_path):
    """Starts a server that answers each prompt with itself; gives its address."""
    with contextlib.ExitStack() as servers:

        def start(faults):
            port = free_port()
            log = servers.enter_context(open(tmp_path / f"llmock-{port}.log", "wb"))
            process = subprocess.Popen(
                [required("EVALCORE_LLMOCK"), "serve", "--port", str(port), "--log-level", "error", "--response-style",
                 "echo", *faults], stdout=log, stderr=log)
            servers.callback(process.wait, timeout=10)
            servers.callback(process.kill)
            deadline = time.monotonic() + 60
            while status_of(port, "/_llmock/verdict") != 200:
                assert process.poll() is None and time.monotonic() < deadline, "llmock does not start"
                time.sleep(0.1)
            return f"http://127.0.0.1:{port}"

        yield start


def run_until_met(arguments):
    """The list of models is broken as often as the rest, and a server that does not answer is not run against."""
    for _ in range(10):
        done = subprocess.run(arguments, text=True, capture_output=True, timeout=600)
        if done.returncode != 3:
            return done
        time.sleep(1.1)  # What llmock asks for with Retry-After, and a little.
    return done


@pytest.mark.parametrize("faults, forms", [(STATUSES, [STREAMED, WHOLE]), (STREAMS, [STREAMED])],
                         ids=["statuses", "streams"])
def test_llmock_finds_nothing_to_object_to(llmock, program, tmp_path, write_suite, faults, forms):
    address = llmock(faults)
    runs = [(backend, form) for backend in ("openai-url", "anthropic-url") for form in forms]
    for backend, form in runs:
        name = backend + "".join(form)
        told = {f"i{i}": f"Hello! You said: {name}, item {i}." for i in range(ITEMS)}
        suite = write_suite(f"{name}.jsonl", [
            {"id": f"i{i}", "prompt": f"{name}, item {i}.", "target": told[f"i{i}"], "params": {"max_tokens": 64}}
            for i in range(ITEMS)])
        url = address + ("/anthropic" if backend == "anthropic-url" else "")
        # Sixteen requests at once would begin with more failures than there is budget for retries yet: those wait, and
        # their delays do not grow as llmock wants it.
        done = run_until_met([program, "run", suite, "--backend", backend, "--base-url", url, "--model", "m",
                              "--idle-timeout", "4", "--rate", "10", "--retries", "9", "--quiet",
                              "--out", tmp_path / name, *form])
        assert done.returncode == 0, done.stderr
        of = summary(tmp_path / name)
        assert of["answered"] == ITEMS and of["errors"] == 0
        # Whole answers, each to its own question.
        assert {item: reply["text"] for item, reply in stored_replies(tmp_path / name).items()} == told

    report = subprocess.run([required("EVALCORE_LLMOCK"), "report", "--url", address, "--strict", "--json"], text=True,
                            capture_output=True, timeout=60)
    verdict = json.loads(report.stdout)
    print({key: verdict[key] for key in ("calls", "attempts", "faults_injected")})
    assert report.returncode == 0, json.dumps(verdict["findings"], indent=1)
    # Each item and, for each run, the list of models.
    assert verdict["calls"] == len(runs) * (ITEMS + 1)
    # A fifth is what is to be expected; of a few requests chance makes less.
    assert verdict["faults_injected"] > (0.15 if ITEMS >= 170 else 0.05) * len(runs) * ITEMS
