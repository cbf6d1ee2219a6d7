"""evalcore's side: the program built from tests/tools/score_replies.cpp, named by EVALCORE_SCORE_REPLIES."""

import json
import os
import subprocess


def score(replies):
    """evalcore's verdicts on a list of (item, {"text": …} or {"calls": […]}); item["row"] is the opened JSON object of
    what is constant about the item."""
    return run("bfcl", "".join(f"{item['row']}, {json.dumps(reply)[1:]}\n" for item, reply in replies))


def score_texts(scorer, pairs):
    """The verdicts of a scorer on a list of (target, text)."""
    return run(scorer, "".join(json.dumps({"id": "", "target": target, "text": text}) + "\n" for target, text in pairs))


def run(scorer, lines):
    done = subprocess.run([os.environ["EVALCORE_SCORE_REPLIES"], scorer], input=lines.encode(), capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]
