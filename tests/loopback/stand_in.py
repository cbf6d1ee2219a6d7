#!/usr/bin/env python3
"""A model server that is none: it writes down how it was started and what it is asked.

The folder named by EVALCORE_STAND_IN gets `started.json` (arguments, environment, the pid of a child of its own) and
`requests.jsonl`. It may hold `answers.json`: for a path, the list of (status, body) to give in turn, the last one again
and again. Like oMLX it saves its settings, under --base-path or else under the user's home.
"""
import http.server
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(os.environ["EVALCORE_STAND_IN"])
ANSWERS = json.loads((FOLDER / "answers.json").read_text()) if (FOLDER / "answers.json").exists() else {}


def chunk(delta, finish):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return "data: " + json.dumps({"object": "chat.completion.chunk", "model": "m", "choices": [choice]}) + "\n\n"


STREAM = chunk({"role": "assistant", "content": "Hello!"}, None) + chunk({}, "stop") + "data: [DONE]\n\n"


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body):
        with open(FOLDER / "requests.jsonl", "a") as log:
            log.write(json.dumps({"path": self.path, "body": body}) + "\n")
        status, text = 200, STREAM if self.command == "POST" else "{}"
        if turns := ANSWERS.get(self.path):
            status, text = turns[0]
            del turns[: len(turns) > 1]
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if self.command == "POST" else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(None)

    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_):
        pass


settings = pathlib.Path(option("--base-path") or pathlib.Path.home() / ".omlx")
if settings.name == ".omlx" and "omlx" not in sys.argv[0]:
    mode = None
else:
    settings.mkdir(parents=True, exist_ok=True)
    mode = oct(settings.stat().st_mode & 0o777)
    (settings / "settings.json").write_text("{}")
child = subprocess.Popen(["sleep", "1000"])
record = {"arguments": sys.argv, "environment": dict(os.environ), "child": child.pid, "folder_mode": mode}
(FOLDER / "started.json").write_text(json.dumps(record))
print("the stand-in listens", flush=True)
http.server.HTTPServer(("127.0.0.1", int(option("--port"))), Handler).serve_forever()
