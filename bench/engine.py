#!/usr/bin/env python3
"""What the in-process engine gains by sharing a prefix and batching, and what it gains over llama.cpp's own server.

The suite is the demo's with the functions written into the system turn, so that a server and the engine are sent the same
tokens, and with as many words before it as bring the end of what all 16 items share to a point of the engine's grid. One
compute thread everywhere, temperature 0, at most 32 new tokens, evaluation `parity` unless said otherwise.

  speedup             processor seconds one at a time and each from its first token, over those planned, 16 at once
  speedup_vs_cached   the same, one at a time but from the prefix
  vs_llama_server     wall seconds of the server at its best (one slot with its cache, or 2, 4 or 8 slots that save and
                      restore the prefix) over those of the engine, divided by that ratio for one cold request, so that
                      compiler flags do not count; the median of the rounds
  vs_llama_server_fast
                      the same with the engine in `fast`, which as the server promises nothing about batches
  shared_tokens       tokens that all items share
  texts_equal         items whose text is the same in all three ways on the engine
  *_s                 wall seconds, medians
"""

# needs: llama_library llama_server model bfcl_data evalcore

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent / "scripts"))
import demo_report  # noqa: E402
import make_demo_suite as demo  # noqa: E402

ROUNDS = 3
SERVER_SLOTS = (1, 2, 4, 8)
ENGINE_SLOTS = 16
GRID = 64
ABOVE_GRID = 4
LEAST_SHARED = 640
PARAMS = {"temperature": 0, "max_tokens": 32, "stop": ["\n"]}


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.runs = 0

    def evalcore(self, command, suite, *options):
        done = subprocess.run(
            list(map(str, [os.environ["EVALCORE_PROGRAM"], command, suite, "--model", os.environ["EVALCORE_MODEL"],
                           "--threads", 1, "--context-per-slot", 2048, *options])),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"evalcore {command} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def run(self, suite, *options):
        """The run's summary, and its texts by item."""
        self.runs += 1
        out = self.folder / f"out{self.runs}"
        self.evalcore("run", suite, "--out", out, "--quiet", *options)
        return json.loads((out / "summary.json").read_text()), demo_report.texts(demo_report.replies(out / "run.db"))

    def embedded(self, suite, *options):
        return self.run(suite, "--backend", "embedded", *options)

    def server(self, suite, *options):
        return self.run(suite, "--backend", "llama-server", "--server-program", os.environ["EVALCORE_LLAMA_SERVER"],
                        *options)


def write_suite(path, items):
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items))
    return path


def items_of(folder, words):
    """The demo's items, functions and worked examples in the system turn, after a number of words."""
    suite = folder / "demo.jsonl"
    subprocess.run([sys.executable, demo.__file__, os.environ["EVALCORE_BFCL"], suite], check=True,
                   stdout=subprocess.DEVNULL)
    for item in demo.json_lines(suite):
        shown, question = item["messages"]
        functions = json.dumps(item["tools"], ensure_ascii=False)
        system = f"{' the' * words}\nAnswer with a call of one of these functions: {functions}\n{shown['content']}"
        yield {"id": item["id"], "messages": [{"role": "system", "content": system.strip()}, question],
               "target": demo.call_text(item["target"]), "params": PARAMS}


def shared_tokens(bench, suite):
    """What a plan in `fast`, which shares every common token, expects of 16 items of which the first computes all."""
    plan = json.loads(bench.evalcore("plan", suite, "--json", "--evaluation", "fast"))
    return plan["predicted_cached_tokens"] // (demo.ITEMS - 1)


def suite_on_the_grid(bench):
    suite = bench.folder / "suite.jsonl"
    shared = shared_tokens(bench, write_suite(suite, items_of(bench.folder, 1)))
    words = 1 + (ABOVE_GRID - shared) % GRID
    shared = shared_tokens(bench, write_suite(suite, items_of(bench.folder, words)))
    if shared < LEAST_SHARED or shared % GRID > 2 * ABOVE_GRID:
        sys.exit(f"the suite shares {shared} tokens: not {LEAST_SHARED}, or too far above a point of the grid")
    return suite, shared


def report(name, summary):
    print(f"{name:44} {summary['wall_s']:7.1f} s  {summary['fed_tokens']:6} tokens fed  "
          f"{summary['completion_tokens']:4} out", file=sys.stderr)


def one_round(bench, suite, single):
    """Wall seconds of one cold request and of the suite, of the server at its best and of the engine."""
    cold = {}
    for name, ask in (("server", bench.server), ("engine", bench.embedded)):
        summary, _ = ask(single, "--slots", 1, "--no-prompt-cache")
        report(f"one cold request, {name}", summary)
        cold[name] = summary["wall_s"]
    engine = {}
    for evaluation in ("parity", "fast"):
        engine[evaluation], _ = bench.embedded(suite, "--slots", ENGINE_SLOTS, "--evaluation", evaluation)
        report(f"engine, {ENGINE_SLOTS} at once, {evaluation}", engine[evaluation])
    servers = []
    for slots in SERVER_SLOTS:
        summary, _ = bench.server(suite, "--slots", slots)
        report(f"server, {slots} slots", summary)
        servers.append(summary)
    best = min(servers, key=lambda one: one["wall_s"])
    flags = cold["engine"] / cold["server"]
    return {"cold_server_s": cold["server"], "cold_engine_s": cold["engine"], "server_s": best["wall_s"],
            "engine_parity_s": engine["parity"]["wall_s"], "engine_fast_s": engine["fast"]["wall_s"],
            "vs_llama_server": best["wall_s"] / engine["parity"]["wall_s"] * flags,
            "vs_llama_server_fast": best["wall_s"] / engine["fast"]["wall_s"] * flags}


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--rounds", type=int, default=ROUNDS, help="of server and engine")
    arguments = flags.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(pathlib.Path(scratch))
        suite, shared = suite_on_the_grid(bench)
        single = write_suite(bench.folder / "single.jsonl", demo.json_lines(suite)[:1])

        ways = {
            "one at a time, each from its first token":
                ("--order", "suite", "--concurrency", 1, "--slots", 1, "--no-prompt-cache"),
            "one at a time, from the prefix": ("--order", "suite", "--concurrency", 1, "--slots", 1),
            f"planned, {ENGINE_SLOTS} at once": ("--slots", ENGINE_SLOTS),
        }
        done = {}
        for name, options in ways.items():
            done[name] = bench.embedded(suite, *options)
            report(name, done[name][0])
        (alone, texts), (cached, cached_texts), (batched, batched_texts) = done.values()
        rounds = [one_round(bench, suite, single) for _ in range(arguments.rounds)]
        figures = {
            "speedup": alone["processor_s"] / batched["processor_s"],
            "speedup_vs_cached": cached["processor_s"] / batched["processor_s"],
            **{name: statistics.median(one[name] for one in rounds) for name in rounds[0]},
            "shared_tokens": shared,
            "items": len(texts),
            "texts_equal": sum(cached_texts.get(item) == text == batched_texts.get(item) for item, text in texts.items()),
        }
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
