"""What the files of a run say, for the scripts that compare runs."""

import contextlib
import json
import sqlite3
import statistics


def replies(store):
    """Reply by item, from a run store."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT items.item_id, replies.body FROM replies JOIN items ON items.item_key = replies.item_key"
        )
        return {item: json.loads(reply) for item, reply in rows}


def texts(of):
    """Answer by item, of replies."""
    return {item: reply["text"] for item, reply in of.items()}


def same_texts(first, second):
    """How many items have the same answer in both, of answers by item."""
    return sum(second.get(item) == text for item, text in first.items())


def median_ttft(of):
    """Seconds from the admission of a request to its first token; None where nobody was told."""
    told = [reply["timing"]["first_token_ns"] / 1e9 for reply in of if "first_token_ns" in reply["timing"]]
    return statistics.median(told) if told else None


def summary_of(folder):
    """None where no run came to its end."""
    path = folder / "summary.json"
    return json.loads(path.read_text()) if path.exists() else None


def shown(value, digits=0):
    return "unknown" if value is None else f"{value:.{digits}f}"


def print_table(rows):
    """Rows of text, the first of them the heads: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    print()
    for row in rows:
        cells = zip(row, widths)
        print("  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(cells)))
