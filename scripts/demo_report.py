#!/usr/bin/env python3
"""Prints the demo's table and adds the comparison to its summary.json."""

import argparse
import json
import pathlib
import sys

from run_results import median_ttft, print_table, replies, same_texts, shown, summary_of, texts

RUNS = {"A": "sequential", "A'": "cached", "B": "."}


def is_answered(folder):
    run = summary_of(folder)
    return run is not None and run["answered"] == run["items"] and run["backend"]["selector"] == "embedded"


def is_whole(out):
    """Whether a demo came to its end there, report and all."""
    run = summary_of(out)
    return run is not None and "speedup" in run


def ratio(a, b):
    """How much less processor time an item took in b; None where one of them answered nothing itself."""

    def of_one(run):
        answered = run["answered"] - run["reused"]
        return run["processor_s"] / answered if answered and run["processor_s"] else None

    return of_one(a) / of_one(b) if of_one(a) and of_one(b) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--whole", action="store_true", help="say by the exit status whether a demo ended there")
    asked.add_argument("--answered", action="store_true", help="the same of one run, all of it answered")
    arguments = parser.parse_args()
    out = arguments.out
    if arguments.whole or arguments.answered:
        sys.exit(0 if (is_whole if arguments.whole else is_answered)(out) else 1)

    runs = {name: json.loads((out / folder / "summary.json").read_text()) for name, folder in RUNS.items()}
    stored = {name: replies(out / folder / "run.db") for name, folder in RUNS.items()}
    answers = {name: texts(of) for name, of in stored.items()}
    cold = median_ttft(stored["A"].values())
    follower = median_ttft(reply for reply in stored["A'"].values() if reply["usage"].get("cached_tokens"))
    a, cached, b = runs.values()

    columns = ["", "wall s", "processor s", "items/s", "mean TTFT s", "tokens fed", "tokens cached", "tokens out",
               "example USD", "score", "errors", "texts as A"]
    table = [columns]
    for name, run in runs.items():
        same = same_texts(answers["A"], answers[name])
        table.append([
            name, shown(run["wall_s"], 1), shown(run["processor_s"], 1), shown(run["items_per_s"], 2),
            shown(run["mean_ttft_s"], 2), shown(run["fed_tokens"]), shown(run["cached_tokens"]), shown(run["completion_tokens"]),
            shown(run["cost"]["spent_usd"], 6), shown(run["score"], 4), str(run["errors"]),
            f"{same}/{run['items']}",
        ])
    print_table(table)

    predicted = b["prefix"]["predicted_cached_tokens"]
    comparison = {
        "speedup": ratio(a, b),
        "speedup_vs_cached": ratio(cached, b),
        "ttft_cold_s": cold,
        "ttft_follower_s": follower,
        "wall_sequential_s": a["wall_s"],
        "wall_cached_s": cached["wall_s"],
        "wall_batched_s": b["wall_s"],
        "score_sequential": a["score"],
        "score_cached": cached["score"],
        "score_batched": b["score"],
        "usd_sequential": a["cost"]["spent_usd"],
        "usd_cached": cached["cost"]["spent_usd"],
        "usd_batched": b["cost"]["spent_usd"],
        "errors": a["errors"] + cached["errors"] + b["errors"],
        "texts_equal": same_texts(answers["A"], answers["B"]),
        "prefix_cached_tokens": b["cached_tokens"],
        "prefix_predicted_tokens": predicted,
    }
    for name, run in runs.items():
        if run["reused"]:
            print(f"{name} was interrupted: {run['reused']} of {run['items']} items are reused; its times and tokens are "
                  "those of the others, its cost is that of all")
    print(f"\nIn processor time B is {shown(comparison['speedup'], 2)} x as fast as A and "
          f"{shown(comparison['speedup_vs_cached'], 2)} x as fast as A'; "
          f"{comparison['texts_equal']} of {b['items']} texts are the same with and without cache and batching")
    print(f"first token, one at a time, median: {shown(cold, 2)} s from the beginning of the prompt, "
          f"{shown(follower, 2)} s from the shared prefix")
    print(f"prefix cached: {shown(b['cached_tokens'])} tokens of {shown(predicted)} predicted")

    path = out / "summary.json"
    path.write_text(json.dumps({**b, **comparison}, indent=2) + "\n")
    print(f"wrote {path}, {out / 'rows.jsonl'}, {out / 'run.db'}")


if __name__ == "__main__":
    main()
