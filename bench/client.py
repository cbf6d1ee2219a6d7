#!/usr/bin/env python3
"""Compares what a request costs its client, in processor time of user and system, and how fast requests go.

A mock answers on one core; the clients have the other, one at a time. They send the same bytes (lm-eval and openai's
client: the same prompt, in their own bytes) over warm connections. Each round runs all of them in turn, and figures are
medians of the rounds' ratios, so that what else the machine does weighs on all.

  cpu_us_per_request      evalcore, 64 in flight at a server that answers at once: the public pool, retries and deadlines
                          armed, replies decoded, no store
  vs_bare, vs_libcurl, vs_libcurl_simdjson, vs_aiohttp, vs_lm_eval, vs_openai
                          what others spend on a request, divided by that: Beast and simdjson without anything around
                          them; libcurl's multi interface as in its documentation's examples (an easy handle for each
                          transfer) with nlohmann's JSON, and with handles used again, simdjson and a body made once;
                          aiohttp, lm-eval's local-completions, openai's client
  share_of_epoll_256      rate at 256 in flight and answers after 50 ms, divided by that of system calls alone
  streams_held            of 2,000 streams of 50 tokens/s at once, those of which the first token and the end were read
                          within 20 ms of being sent, everything of evalcore on one core
  streams_paced           those that the mock itself sent at that rate, on its core
  streams_cpu_share       of evalcore's core, while all of them were open
  ttft_error_ms           64 streams: 99th percentile of the time between when the first token was sent and when evalcore
                          says that it came, while the program sleeps and while it computes on the mock's core; the worse
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
AT_ONCE = ("/delay/0", 64)
AFTER_50_MS = ("/delay/50", 256)
STREAMS = ("/stream/50/250/1000", 2000)
FIRST_TOKENS = ("/stream/50/5/50", 64)
PEERS = ("aiohttp", "lm_eval", "openai")
STREAM_FIGURES = ("held", "paced", "cpu_share")
NATIVE = ("evalcore", "beast", "libcurl", "libcurl_simdjson", "epoll")


def cores():
    """One for the clients, one for the mock."""
    mine = sorted(os.sched_getaffinity(0))
    return mine[0], mine[-1]


def started(command, core):
    return subprocess.Popen(
        ["taskset", "--cpu-list", str(core), *map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class Worker:
    """A client in a process of its own, which stays, so that it is warm."""

    def __init__(self, command, core):
        self.process = started(command, core)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"a client ended: {' '.join(map(str, words))}")
        return json.loads(answer)

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Bench:
    def __init__(self, program, seconds):
        program = pathlib.Path(program).resolve()
        self.seconds = seconds
        client_core, self.mock_core = cores()
        self.mock = started([program.parent / "bench_client_mock"], self.mock_core)
        port = int(self.mock.stdout.readline())
        self.native = Worker([program, port], client_core)
        body = subprocess.run([program, "--body"], check=True, capture_output=True, text=True).stdout
        peers = [sys.executable, HERE / "client/peers.py", port, body.strip()]
        self.peers = {name: Worker([*peers, name], client_core) for name in PEERS}

    def run(self, client, load):
        return self.peers.get(client, self.native).ask(client, *load, self.seconds)

    def round(self):
        cpu_us = {}
        for client in (*NATIVE, *PEERS):
            seen = self.run(client, AT_ONCE)
            cpu_us[client] = 1e6 * seen["cpu_s"] / seen["requests"]
        rate = {}
        for client in ("evalcore", "epoll"):
            seen = self.run(client, AFTER_50_MS)
            rate[client] = seen["requests"] / seen["wall_s"]
        streams = self.run("streams", STREAMS)
        errors = [
            self.native.ask("ttft", *FIRST_TOKENS, self.seconds, core)["error_ms"] for core in (-1, self.mock_core)
        ]
        return {"cpu_us": cpu_us, "rate": rate, "streams": streams, "ttft_error_ms": max(errors)}

    def end(self):
        for worker in (self.native, *self.peers.values()):
            worker.end()
        self.mock.stdin.close()
        self.mock.wait(timeout=60)


def told(number, taken):
    costs = ", ".join(f"{name} {us:,.1f}" for name, us in taken["cpu_us"].items())
    share = taken["rate"]["evalcore"] / taken["rate"]["epoll"]
    print(
        f"round {number}: µs a request: {costs}; share of epoll {share:.3f}; streams {taken['streams']};"
        f" first token {taken['ttft_error_ms']:.2f} ms",
        file=sys.stderr,
    )


def figures_of(rounds):
    def against(peer):
        return statistics.median(one["cpu_us"][peer] / one["cpu_us"]["evalcore"] for one in rounds)

    return {
        "cpu_us_per_request": statistics.median(one["cpu_us"]["evalcore"] for one in rounds),
        "vs_bare": against("beast"),
        **{f"vs_{peer}": against(peer) for peer in ("libcurl", "libcurl_simdjson", *PEERS)},
        "share_of_epoll_256": statistics.median(one["rate"]["evalcore"] / one["rate"]["epoll"] for one in rounds),
        **{f"streams_{name}": statistics.median(one["streams"][name] for one in rounds) for name in STREAM_FIGURES},
        "ttft_error_ms": statistics.median(one["ttft_error_ms"] for one in rounds),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement")
    how = parser.parse_args()
    bench = Bench(how.program, how.seconds)
    rounds = []
    for number in range(1, how.rounds + 1):
        rounds.append(bench.round())
        told(number, rounds[-1])
    bench.end()
    print(json.dumps(figures_of(rounds)))


if __name__ == "__main__":
    main()
