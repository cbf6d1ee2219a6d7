"""A key, a header or a query value stands in nothing that evalcore writes, and not in its process title."""

import http.server
import json
import os
import threading

import pytest

SENTINEL = "SENTINEL-4711"
CHUNK = {"object": "chat.completion.chunk", "model": "m",
         "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello!"}, "finish_reason": "stop"}]}


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers the first question; refuses the others with all that it was sent. Looks at its client's title."""

    def answer(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        self.answer(200, "application/json", json.dumps({"data": [{"id": "m"}]}))

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers)))
        self.server.titles.append(self.server.title())
        if len(self.server.titles) == 1:
            self.answer(200, "text/event-stream", f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n")
        else:
            said = f"no: {self.path} {dict(self.headers)}"
            self.answer(401, "application/json", json.dumps({"error": {"message": said}}))

    def log_message(self, *_):
        pass


def title_of_evalcore():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{pid}/cmdline", "rb").read()
        except OSError:
            continue
        if b"secret-suite.jsonl" in line:
            return line
    return None


@pytest.fixture
def echo():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.asked, server.titles, server.title = [], [], title_of_evalcore
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def key_file(tmp_path):
    path = tmp_path / "key"
    path.write_text(SENTINEL + "\n")
    path.chmod(0o600)
    return ["--api-key-file", path]


def key_command(tmp_path):
    path = tmp_path / "print-key"
    path.write_text('#!/bin/sh\necho "$1"\n')
    path.chmod(0o700)
    return [f"--api-key-command={path} {SENTINEL}"]


@pytest.mark.parametrize("options", [
    lambda _: ["--api-key-env", "THE_KEY"],
    key_file,
    key_command,
    lambda _: ["--header", f"X-Key={SENTINEL}"],
    lambda _: [f"--header=X-Key={SENTINEL}"],
    lambda _: ["--header", "X-Key=env:THE_KEY"],
    lambda _: ["--query", f"sig={SENTINEL}"],
], ids=["environment", "file", "command", "header", "header=", "header from the environment", "query"])
def test_a_secret_is_sent_and_shown_nowhere(evalcore, write_suite, tmp_path, echo, options):
    suite = write_suite("secret-suite.jsonl", [{"id": f"i{n}", "prompt": "hi", "target": "Hello!"} for n in range(3)])
    given = options(tmp_path)
    done = evalcore("run", suite, "-b", "openai-url", "--base-url", f"http://127.0.0.1:{echo.server_port}", "-c", 1,
                    "--out", "out", *given, env={**os.environ, "THE_KEY": SENTINEL})
    assert done.returncode == 4, done.stderr
    assert echo.asked and all(SENTINEL in str(one) for one in echo.asked)
    # The stand-in saw the command at work, and its title was clean.
    assert echo.titles and all(title and SENTINEL.encode() not in title for title in echo.titles)
    assert SENTINEL not in done.stdout + done.stderr
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {"run.db", "rows.jsonl", "summary.json"} <= {path.name for path in written}
    for path in written:
        assert SENTINEL.encode() not in path.read_bytes(), path


def test_a_key_file_that_others_can_read_is_refused(evalcore, write_suite, tmp_path):
    suite = write_suite("suite.jsonl", [{"id": "a", "prompt": "hi", "target": "x"}])
    option = key_file(tmp_path)
    option[1].chmod(0o644)
    done = evalcore("run", suite, "-b", "openai-url", "--base-url", "http://127.0.0.1:9", *option)
    assert done.returncode == 2
    assert "chmod 600" in done.stderr and SENTINEL not in done.stderr


@pytest.mark.parametrize("value", [SENTINEL, f"={SENTINEL}"])
def test_a_header_without_a_name_is_refused_unseen(evalcore, write_suite, value):
    suite = write_suite("suite.jsonl", [{"id": "a", "prompt": "hi", "target": "x"}])
    done = evalcore("run", suite, "-b", "openai-url", "--base-url", "http://127.0.0.1:9", f"--header={value}")
    assert done.returncode == 2
    assert "NAME=VALUE" in done.stderr and SENTINEL not in done.stderr
