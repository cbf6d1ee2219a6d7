#!/usr/bin/env python3
"""Prints the demo's table and adds the comparison to its summary.json."""

import argparse
import contextlib
import json
import pathlib
import sqlite3

RUNS = {"A": "sequential", "A'": "cached", "B": "."}


def texts(store):
    """Answer by item, from a run store."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT items.item_id, replies.body FROM replies JOIN items ON items.item_key = replies.item_key"
        )
        return {item: json.loads(reply)["text"] for item, reply in rows}


def shown(value, digits=0):
    return "unknown" if value is None else f"{value:.{digits}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out

    runs = {name: json.loads((out / folder / "summary.json").read_text()) for name, folder in RUNS.items()}
    answers = {name: texts(out / folder / "run.db") for name, folder in RUNS.items()}
    a, cached, b = runs.values()

    columns = ["", "wall s", "items/s", "mean TTFT s", "tokens fed", "tokens cached", "score", "errors", "texts as A"]
    table = [columns]
    for name, run in runs.items():
        same = sum(answers[name].get(item) == text for item, text in answers["A"].items())
        table.append([
            name, shown(run["wall_s"], 1), shown(run["items_per_s"], 2), shown(run["mean_ttft_s"], 2),
            shown(run["fed_tokens"]), shown(run["cached_tokens"]), shown(run["score"], 4), str(run["errors"]),
            f"{same}/{run['items']}",
        ])
    widths = [max(len(row[i]) for row in table) for i in range(len(columns))]
    print()
    for row in table:
        print("  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths))))

    predicted = b["prefix"]["predicted_cached_tokens"]
    comparison = {
        "speedup": a["wall_s"] / b["wall_s"],
        "speedup_vs_cached": cached["wall_s"] / b["wall_s"],
        "wall_sequential_s": a["wall_s"],
        "wall_cached_s": cached["wall_s"],
        "wall_batched_s": b["wall_s"],
        "score_sequential": a["score"],
        "score_cached": cached["score"],
        "score_batched": b["score"],
        "errors": a["errors"] + cached["errors"] + b["errors"],
        "texts_equal": sum(answers["B"].get(item) == text for item, text in answers["A"].items()),
        "prefix_cached_tokens": b["cached_tokens"],
        "prefix_predicted_tokens": predicted,
    }
    print(f"\nB is {comparison['speedup']:.2f} x as fast as A and {comparison['speedup_vs_cached']:.2f} x as fast as A'; "
          f"{comparison['texts_equal']} of {b['items']} texts are the same with and without cache and batching")
    print(f"prefix cached: {shown(b['cached_tokens'])} tokens of {shown(predicted)} predicted")

    path = out / "summary.json"
    path.write_text(json.dumps({**b, **comparison}, indent=2) + "\n")
    print(f"wrote {path}, {out / 'rows.jsonl'}, {out / 'run.db'}")


if __name__ == "__main__":
    main()
