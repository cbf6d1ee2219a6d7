"""What is asked of a server before a run: asked again while it is busy, and not when it refuses."""

import contextlib
import http.server
import json
import threading
import time

import pytest

from conftest import free_port, hi, summary


@contextlib.contextmanager
def server_that_begins_with(*statuses):
    """Answers its first requests with these statuses and `Retry-After: 1`, then lists a model and says "Hello!"."""
    left = list(statuses)
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def tell(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            if status != 200:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            asked.append((time.monotonic(), self.path))
            if left:
                self.tell(left.pop(0), {"error": {"message": "no"}})
            else:
                self.tell(200, {"object": "list", "data": [{"id": "m"}]})

        def do_POST(self):
            asked.append((time.monotonic(), self.path))
            self.rfile.read(int(self.headers["Content-Length"]))
            message = {"role": "assistant", "content": "Hello!"}
            self.tell(200, {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def run_on(evalcore, write_suite, url, *more):
    return evalcore("run", write_suite("s.jsonl", [hi(1)]), "-b", "openai-url", "--base-url", url, "--out", "out",
                    "--temperature", 0, *more)


@pytest.mark.parametrize("status, words", [(429, "too many requests"), (503, "busy or still loading"),
                                           (529, "busy or still loading")])
def test_a_busy_server_is_asked_again_when_it_said(evalcore, write_suite, tmp_path, status, words):
    with server_that_begins_with(status) as (url, asked):
        done = run_on(evalcore, write_suite, url)
    assert done.returncode == 0, done.stderr
    assert summary(tmp_path / "out")["score"] == 1
    assert [path for _, path in asked] == ["/v1/models", "/v1/models", "/v1/chat/completions"]
    assert asked[1][0] - asked[0][0] >= 1
    assert "asking again in 1.0 s" in done.stderr and words in done.stderr


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_the_end_at_once(evalcore, write_suite, tmp_path, status):
    with server_that_begins_with(status) as (url, asked):
        done = run_on(evalcore, write_suite, url)
    assert done.returncode == 3
    assert len(asked) == 1
    assert f"answers HTTP {status}" in done.stderr and "asking again" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_retries_bound_what_is_asked_before_a_run(evalcore, write_suite):
    with server_that_begins_with(*[503] * 9) as (url, asked):
        done = run_on(evalcore, write_suite, url, "--retries", 1)
    assert done.returncode == 3
    assert len(asked) == 2
    assert "(2 attempts)" in done.stderr


def test_a_wait_that_is_too_long_is_not_begun(evalcore, write_suite):
    with server_that_begins_with(429) as (url, asked):
        done = run_on(evalcore, write_suite, url, "--max-wait", 0)
    assert done.returncode == 3
    assert len(asked) == 1
    assert "the server asks to wait 1 s, longer than the longest wait of 0 s" in done.stderr


def test_a_port_where_nobody_listens_is_left_within_five_seconds(evalcore, write_suite):
    began = time.monotonic()
    done = run_on(evalcore, write_suite, f"http://127.0.0.1:{free_port()}")
    assert 1 < time.monotonic() - began < 5
    assert done.returncode == 3
    assert "asking again in" in done.stderr
    assert "connection refused; is the server running? (4 attempts)" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("item, words", [
    ({"id": "b", "target": "x"}, 'lacks "messages" or "prompt"'),
    ({"id": "b", "prompt": "hi", "target": "x",
      "params": {"tool_choice": {"type": "function", "function": {"name": "f"}}}}, "tool_choice"),
])
def test_an_item_that_makes_no_request_is_told_before_anything_is_sent(evalcore, write_suite, tmp_path, item, words):
    suite = write_suite("s.jsonl", [hi(1), item, hi(2)])
    with server_that_begins_with() as (url, asked):
        done = evalcore("run", suite, "-b", "openai-url", "--base-url", url, "--out", "out")
    assert done.returncode == 2, done.stderr
    assert asked == []
    assert "s.jsonl:2: " in done.stderr and words in done.stderr
    assert not (tmp_path / "out").exists()
