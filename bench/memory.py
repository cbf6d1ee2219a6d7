#!/usr/bin/env python3
"""What a run takes of memory for what is queued: a million requests of 1 KB from a file, with planner and store.

The backend answers the first requests and then no more, so that all others are queued; the run is measured in its last
seconds and killed. The same program on a suite of one request is taken off.

  requests     in the suite
  rss_mb       peak resident set with all of them less that with one, MiB
  rss_of_one   peak resident set with one request, MiB
  setup_s      from the start to the first request
"""

# needs: evalcore

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from servers import model_server

ANSWERED = 2_000
BODY_BYTES = 1_024
FAMILIES = 5


class Server(model_server.Server):
    def __init__(self, answers):
        self.answers = answers
        self.lock = threading.Lock()
        self.asked = 0
        self.first = None
        self.stopped = threading.Event()
        super().__init__(Handler)


class Handler(model_server.Handler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        with server.lock:
            server.first = server.first or time.monotonic()
            server.asked += 1
            late = server.asked > server.answers
        if late:
            server.stopped.wait()
        self.reply({
            "choices": [{"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 256, "completion_tokens": 1},
        })


def write_suite(path, requests):
    """Questions after five long introductions, taking turns."""
    random.seed(1)
    letters = "abcdefghijklmnopqrstuvwxyz "
    shared = ["".join(random.choices(letters, k=700)) for _ in range(FAMILIES)]
    noise = "".join(random.choices(letters, k=1 << 20))
    with path.open("w") as out:
        for number in range(requests):
            at = random.randrange(len(noise) - BODY_BYTES)
            prompt = shared[number % FAMILIES] + noise[at : at + BODY_BYTES - 700]
            out.write(json.dumps({"id": f"item {number}", "prompt": prompt, "target": "4"}) + "\n")


def peak_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmHWM")


def measure(evalcore, folder, requests):
    """Peak memory, and the seconds until the first request came."""
    suite = folder / f"suite{requests}.jsonl"
    write_suite(suite, requests)
    # The last request stays out, so that the run is there to be measured.
    server = Server(min(ANSWERED, requests - 1))
    command = [evalcore, "run", suite, "--backend", "openai-url", "--base-url",
               f"http://127.0.0.1:{server.server_address[1]}", "--no-stream", "--temperature", "0", "--out",
               folder / f"out{requests}", "--quiet"]
    begun = time.monotonic()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)
    peak = 0
    wanted = min(ANSWERED, requests)
    while server.asked < wanted and process.poll() is None:
        with contextlib.suppress(OSError, RuntimeError):
            peak = max(peak, peak_mib(process.pid))
        time.sleep(0.02)
    if process.poll() is None:
        time.sleep(1)
        with contextlib.suppress(OSError, RuntimeError):
            peak = max(peak, peak_mib(process.pid))
        process.send_signal(signal.SIGKILL)
    process.wait()
    server.stopped.set()
    server.shutdown()
    if server.asked < wanted:
        sys.exit(f"the run ended early: {(folder / 'log').read_text()[-500:]}")
    suite.unlink()
    return peak, server.first - begun


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=1_000_000)
    wanted = options.parse_args()
    evalcore = os.environ["EVALCORE_PROGRAM"]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="evalcore-memory-"))
    try:
        of_one, _ = measure(evalcore, folder, 1)
        of_all, setup = measure(evalcore, folder, wanted.requests)
    finally:
        shutil.rmtree(folder)
    print(f"{wanted.requests} requests: {of_all:.1f} MiB, one: {of_one:.1f} MiB, first request after {setup:.1f} s",
          file=sys.stderr)
    print(json.dumps({"requests": wanted.requests, "rss_mb": round(of_all - of_one, 1),
                      "rss_of_one": round(of_one, 1), "setup_s": round(setup, 1)}))


if __name__ == "__main__":
    main()
