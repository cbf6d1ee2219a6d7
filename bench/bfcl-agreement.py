# needs: score_replies
"""Compares evalcore's verdicts on BFCL v4 with those of BFCL's own checker: on the gold answers to every item of the categories
with one turn and on what mutations make of them, as text and as native calls. The table and what differs go to standard error."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/oracle"))

from bfcl_agreement import compare  # noqa: E402
from bfcl_cases import replies  # noqa: E402
from bfcl_items import CATEGORIES, load  # noqa: E402

SHOWN = 5


def main():
    figures = {"items": 0, "cases": 0, "right": 0, "disagreements": 0, "fewest_mutations_per_item": 10**9}
    print(f"{'category':26}{'items':>8}{'cases':>9}{'right':>9}{'differ':>8}", file=sys.stderr)
    for category in CATEGORIES:
        items = load(category)
        cases = []
        for item in items:
            own = [(item, mutation, reply) for mutation, reply in replies(item, category)]
            kinds = {mutation for _, mutation, _ in own if mutation != "gold"}
            figures["fewest_mutations_per_item"] = min(figures["fewest_mutations_per_item"], len(kinds))
            cases += own
        told = compare(category, cases)
        print(f"{category:26}{len(items):8}{len(cases):9}{sum(told.right):9}{len(told.disagreements):8}", file=sys.stderr)
        for one in told.disagreements[:SHOWN]:
            print("  differs:", *one, file=sys.stderr)
        figures["items"] += len(items)
        figures["cases"] += len(cases)
        figures["right"] += sum(told.right)
        figures["disagreements"] += len(told.disagreements)
    print(json.dumps(figures))


main()
