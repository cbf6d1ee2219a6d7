#!/usr/bin/env python3
"""The adaptive limit: the simulations of bench_auto, and llama.cpp's server on the demo's model.

The real part runs the same number of short requests at 1, 2, 4, 8 and 16 in flight and with --concurrency auto,
three rounds interleaved, and compares the medians of completion tokens per second of the server's processor time. The best
of five single runs would be the luckiest: on a shared machine one moves by a fifth from round to round.
"""

# needs: llama_server model

import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROUNDS = 3
FIXED = (1, 2, 4, 8, 16)
SLOTS = 16
ITEMS = 64
ANSWER_TOKENS = 16
TOPICS = ("rivers", "bread", "the moon", "chess", "bees", "iron", "glass", "rain")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(port, log):
    command = [os.environ["EVALCORE_LLAMA_SERVER"], "--model", os.environ["EVALCORE_MODEL"], "--host", "127.0.0.1",
               "--port", port, "--parallel", SLOTS, "--ctx-size", SLOTS * 256, "--threads", 1]
    process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError):
                if urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200:
                    break
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"the server was not ready; see {log.name}")
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=10)


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tokens_per_second(evalcore, folder, port, pid, concurrency, number):
    """Each run asks something new, so that none finds the prompts of another in the server's cache."""
    suite = folder / "suite.jsonl"
    suite.write_text("".join(
        json.dumps({"id": str(i), "prompt": f"Run {number}, part {i}. Tell a story about {TOPICS[i % len(TOPICS)]}.",
                    "target": ""}) + "\n" for i in range(ITEMS)))
    out = folder / f"out{number}"
    before = processor_seconds(pid)
    subprocess.run(
        list(map(str, [evalcore, "run", suite, "--backend", "openai-url", "--dialect", "llama-server", "--base-url",
                       f"http://127.0.0.1:{port}", "--concurrency", concurrency, "--max-concurrency", SLOTS, "--order",
                       "suite", "--no-prompt-cache", "--max-tokens", ANSWER_TOKENS, "--temperature", 0, "--out", out,
                       "--quiet"])),
        check=True, stdout=subprocess.DEVNULL)
    spent = processor_seconds(pid) - before
    return json.loads((out / "summary.json").read_text())["completion_tokens"] / spent


def real_server(evalcore):
    rates = {concurrency: [] for concurrency in (*FIXED, "auto")}
    with tempfile.TemporaryDirectory() as scratch, open(pathlib.Path(scratch) / "server.log", "wb") as log:
        folder, port = pathlib.Path(scratch), free_port()
        with server(port, log) as pid:
            for turn in range(ROUNDS):
                for place, concurrency in enumerate(rates):
                    rate = tokens_per_second(evalcore, folder, port, pid, concurrency, turn * len(rates) + place)
                    rates[concurrency].append(rate)
                    print(f"round {turn + 1}: {concurrency} in flight, {rate:.1f} tokens per processor second",
                          file=sys.stderr)
    typical = {concurrency: statistics.median(of) for concurrency, of in rates.items()}
    return {
        "real_share_of_best": round(typical["auto"] / max(typical[n] for n in FIXED), 3),
        "real_tokens_per_processor_s": {str(concurrency): round(rate, 1) for concurrency, rate in typical.items()},
    }


def main():
    simulation = sys.argv[1]
    figures = json.loads(subprocess.run([simulation], check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(json.dumps(figures | real_server(pathlib.Path(simulation).parents[1] / "evalcore")))


if __name__ == "__main__":
    main()
