#!/usr/bin/env python3
"""Asks one model 64 questions in several ways on the in-process engine, and counts the answers that stay the same.

All share the system turn and the tools of the demo's suite (above 600 tokens); 16 are the demo's items, the others are
the first questions of BFCL v4 live_multiple outside of that family, but for a few long ones. Each is answered with 16
tokens:
one at a time, each from its first token; one at a time, from the prefix; many at once, from the prefix; and many at
once in another order, with rows that leave or are cancelled on the way. `--requests N` asks the first N only.

  requests            questions
  identical           those whose token ids and log probabilities are the same to the bit in all four ways (evaluation
                      `parity`)
  identical_fast      those that many at once from the prefix, in the evaluation `fast`, answers with the same bits as
                      the first way
  width               rows in a tensor batch that the self-test found safe
  prefix_tokens       tokens that all questions share
  *_s                 seconds that each way took
"""

# needs: llama_library
# needs: model
# needs: bfcl_data

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent / "scripts"))
import make_demo_suite as demo  # noqa: E402

REQUESTS = 64
LONGEST = 400  # Characters of a question.


def requests_of(data, count):
    """The demo's items, and then other questions with the demo's system turn and tools."""
    with tempfile.TemporaryDirectory() as folder:
        suite = pathlib.Path(folder) / "suite.jsonl"
        subprocess.run([sys.executable, demo.__file__, data, suite], check=True, stdout=subprocess.DEVNULL)
        items = demo.json_lines(suite)
    shared = {"system": items[0]["messages"][0], "tools": items[0]["tools"]}
    turns = [item["messages"][1:] for item in items]
    questions = demo.json_lines(pathlib.Path(data) / f"BFCL_v4_{demo.CATEGORY}.json")
    others = (item["question"][0] for item in questions if item["id"].split("-")[1:2] != [demo.FAMILY])
    turns += [own for own in others if own[0]["role"] == "user" and len(own[0]["content"]) <= LONGEST]
    return [{"messages": [shared["system"], *own], "tools": shared["tools"]} for own in turns[:count]]


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("program")
    flags.add_argument("--requests", type=int, default=REQUESTS)
    arguments = flags.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "requests.jsonl"
        lines = requests_of(os.environ["EVALCORE_BFCL"], arguments.requests)
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        subprocess.run([arguments.program, os.environ["EVALCORE_MODEL"], file], check=True)


if __name__ == "__main__":
    main()
