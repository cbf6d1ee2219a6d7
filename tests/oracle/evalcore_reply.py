"""evalcore's side: the program built from tests/tools/ask.cpp, named by EVALCORE_ASK, which asks over evalcore's own
HTTP client."""

import json
import os
import subprocess

API = {"chat": "chat", "completion": "completions", "messages": "messages", "response": "responses"}


def ask(url, kind, stream, dialect="generic", prompts=1, **more):
    """What becomes of one request to `url`. Kinds: those of API."""
    question = {"api": API[kind], "url": url, "dialect": dialect, "stream": stream, **more}
    if kind == "completion":
        question["prompts"] = ["hi"] * prompts
    else:
        question["messages"] = [{"role": "user", "content": "hi"}]
    done = subprocess.run(
        [os.environ["EVALCORE_ASK"]],
        input=json.dumps(question),
        text=True,
        capture_output=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)
