#!/usr/bin/env python3
"""Writes the demo's suite: 16 items of BFCL v4 live_multiple that share the same three functions.

The items are the first 16 whose id has the middle number 164 and whose function list is the common one; items 17
to 20 of that family, with their gold calls, stand as worked examples in the system turn, since a model of 135 M
parameters otherwise refuses. Nothing of the 16 is shown to the model but their questions.
"""

import argparse
import json
import pathlib
from collections import Counter

FAMILY = "164"
ITEMS = 16
EXAMPLES = 4
CATEGORY = "live_multiple"


def json_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def family_of(questions):
    """The items of the family that have its most common function list, in the file's order."""
    members = [item for item in questions if item["id"].split("-")[1:2] == [FAMILY]]
    common, _ = Counter(json.dumps(item["function"]) for item in members).most_common(1)[0]
    return [item for item in members if json.dumps(item["function"]) == common]


def call_text(gold):
    """The gold call as text: the first accepted value of each argument that may not be left out."""
    (name, arguments), = gold[0].items()
    given = [f"{key}={values[0]!r}" for key, values in arguments.items() if values[0] != ""]
    return f"[{name}({', '.join(given)})]"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path, help="folder of the BFCL v4 files")
    parser.add_argument("suite", type=pathlib.Path, help="JSONL file to write")
    arguments = parser.parse_args()

    name = f"BFCL_v4_{CATEGORY}.json"
    questions = json_lines(arguments.data / name)
    gold = {item["id"]: item["ground_truth"] for item in json_lines(arguments.data / "possible_answer" / name)}
    family = family_of(questions)
    items, examples = family[:ITEMS], family[ITEMS : ITEMS + EXAMPLES]
    shown = "\n".join(
        f"user: {item['question'][0][0]['content']}\nassistant: {call_text(gold[item['id']])}" for item in examples
    )
    with open(arguments.suite, "w", encoding="utf-8") as out:
        for item in items:
            line = {
                "id": item["id"],
                "messages": [{"role": "system", "content": shown}, *item["question"][0]],
                "tools": item["function"],
                "target": gold[item["id"]],
                "scorer": "bfcl",
                "category": CATEGORY,
                "params": {"temperature": 0, "max_tokens": 32, "stop": ["\n"]},
            }
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(items)} items, {len(examples)} worked examples -> {arguments.suite}")


if __name__ == "__main__":
    main()
