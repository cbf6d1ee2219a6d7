"""evalcore's side: the program built from tests/tools/score_replies.cpp, named by EVALCORE_SCORE_REPLIES."""

import json
import os
import subprocess


def score(replies):
    """evalcore's verdicts on a list of (item, {"text": …} or {"calls": […]}); item["row"] is the opened JSON object of
    what is constant about the item."""
    text = "".join(f"{item['row']}, {json.dumps(reply)[1:]}\n" for item, reply in replies)
    run = subprocess.run([os.environ["EVALCORE_SCORE_REPLIES"]], input=text.encode(), capture_output=True, check=True)
    return [json.loads(line) for line in run.stdout.decode().splitlines()]
