"""`evalcore show` tells the whole life of one item; its curl command sends the very request, and no secret stands in it."""

import hashlib
import http.server
import json
import os
import subprocess
import threading

import pytest
from conftest import TOOLS, hi

from graded_runs import run_graded, suite_lines

KEY, HEADER, QUERY = "SENTINEL-key", "SENTINEL-header", "SENTINEL-query"
CHUNK = {"object": "chat.completion.chunk", "model": "m",
         "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello!"}, "finish_reason": "stop"}]}


class Keeper(http.server.BaseHTTPRequestHandler):
    """Remembers what it is sent, to the byte, and answers every question alike."""

    def reply(self, kind, text):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply("application/json", json.dumps({"data": [{"id": "m"}]}))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.reply("text/event-stream", f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n")

    def log_message(self, *_):
        pass


@pytest.fixture
def keeper():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keeper)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def shown(evalcore, *arguments):
    done = evalcore("show", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_order(text, *parts):
    at = 0
    for part in parts:
        at = text.find(part, at)
        assert at >= 0, part
        at += len(part)


def test_attempts_reply_and_steps_of_an_item_are_shown(evalcore, tmp_path):
    items = [{"id": "a", "prompt": "ask a.", "target": 4, "scorer": "numeric", "category": "sums"}]
    (tmp_path / "suite.jsonl").write_text(json.dumps(items[0]) + "\n")
    script = [{"error": {"code": "overloaded", "message": "full"}},
              {"text": "<think>2+2</think>It is\n5.", "usage": {"prompt_tokens": 9, "completion_tokens": 3}}]
    (tmp_path / "script").write_text("".join(json.dumps(one) + "\n" for one in script))
    evalcore("run", "suite.jsonl", "-b", "scripted", "--script", "script", "--out", "a", "--model-name", "m")
    told = shown(evalcore, "a", "a")
    assert told["item"] == {"id": "a", "position": 0, "category": "sums", "scorer": "numeric", "metric": "numeric_match",
                            "target": 4}
    first, second = told["attempts"]
    assert (first["state"], first["error"]["code"], first["error"]["message"]) == ("failed", "overloaded", "full")
    assert (second["state"], second["error"]) == ("replied", None)
    # The first wait is 0.375 to 0.5 s.
    assert 300 < second["started_unix_ms"] - first["started_unix_ms"] < 5000
    assert told["reply"]["text"] == "<think>2+2</think>It is\n5."
    assert told["reply"]["usage"] == {"prompt_tokens": 9, "completion_tokens": 3}
    assert told["request"]["messages"] == [{"role": "user", "content": "ask a."}]
    assert [(step["name"], step["text"]) for step in told["score"]["steps"]] == [
        ("reasoning", "It is\n5."), ("extract", "5"), ("normalise", "5"), ("compare", told["score"]["reason"])]
    assert (told["score"]["state"], told["score"]["value"]) == ("scored", 0)
    text = evalcore("show", "a", "a").stdout
    in_order(text, "item a (1 of 1 of suite.jsonl)", "target: 4", "ask a.", "attempts: 2", "failed", "overloaded at", "full",
             "replied", "    <think>2+2</think>It is\n    5.", "tokens: prompt 9, cached unknown", "as it is stored", "reasoning",
             "extract\n    5", "compare", "0.0: ")  # fmt: skip


def test_an_item_without_a_reply_is_shown_with_its_failure(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(2))
    run_graded(evalcore, tmp_path, "a", "re")
    told = shown(evalcore, "a", "i001")
    assert (told["reply"], told["score"]["state"], told["score"]["reason"]) == (None, "errored", "backend_fault")
    in_order(evalcore("show", "a", "i001").stdout, "backend_fault at ", "broke", "no reply", "errored: backend_fault")


def test_an_unknown_id_names_those_that_are_near(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(12))
    run_graded(evalcore, tmp_path, "a", "r" * 10, "--limit", "10")
    done = evalcore("show", "a", "i0003")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'has no item "i0003"; near it are "i000", "i003", "i001"' in done.stderr
    assert 'the first of its 10 is "i000"' in evalcore("show", "a", "nothing-like-it").stderr
    # Of the suite, but beyond the run's limit.
    assert evalcore("show", "a", "i011").returncode == 2


def test_what_a_model_wrote_cannot_steer_the_terminal(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(1))
    (tmp_path / "script").write_text(json.dumps({"text": "\x1b[2J\r\nno"}) + "\n")
    evalcore("run", "suite.jsonl", "-b", "scripted", "--script", "script", "--out", "a")
    text = evalcore("show", "a", "i000").stdout
    assert "\x1b" not in text and "\r" not in text
    assert "    \\x1b[2J\\x0d\n    no\n" in text


ODD = "it's $HOME `id` $(id) \\ \"q\" %s é \n\t !"


def test_curl_sends_the_very_request_and_shows_no_secret(evalcore, write_suite, tmp_path, keeper):
    path = write_suite("odd.jsonl", [{**hi(1), "id": ODD, "messages": [{"role": "user", "content": ODD * 5000}], "tools": TOOLS}])
    secrets = {**os.environ, "MY_KEY": KEY, "TENANT": QUERY}
    done = evalcore("run", path, "-b", "openai-url", "--base-url", f"http://127.0.0.1:{keeper.server_port}/v1",
                    "--api-key-env", "MY_KEY", "--header", f"x-team={HEADER}", "--query", "tenant=env:TENANT", "--temperature", "0", "--tools", "native",
                    "--out", "a", env=secrets)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (ours,) = keeper.asked
    command = evalcore("show", "a", ODD, "--curl").stdout
    assert "SENTINEL" not in command
    assert '-H \'Authorization: Bearer \'"$MY_KEY"' in command
    environment = {**secrets, "X_TEAM": HEADER}
    # Longer than an argument may be.
    assert len(command) > 2**17
    answer = subprocess.run(["sh"], input=command, env=environment, text=True, capture_output=True, timeout=30, check=True)
    assert "Hello!" in answer.stdout
    theirs = keeper.asked[1]
    assert theirs[0] == ours[0] == f"/v1/chat/completions?tenant={QUERY}"
    assert theirs[2] == ours[2]
    for name in ("authorization", "x-team", "content-type", "accept"):
        assert theirs[1][name] == ours[1][name]
    assert "SENTINEL" not in evalcore("show", "a", ODD).stdout + evalcore("show", "a", ODD, "--json").stdout


def test_a_run_without_a_server_has_no_curl_command(evalcore, write_suite, tmp_path):
    path = write_suite("suite.jsonl", [hi(1)])
    (tmp_path / "script").write_text('{"text": "Hello!"}\n')
    evalcore("run", path, "-b", "scripted", "--script", "script", "--out", "a")
    done = evalcore("show", "a", "i1", "--curl")
    assert done.returncode == 2
    assert "the backend scripted has no server" in done.stderr


def digest(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_a_request_is_sent_again_and_the_run_stays_as_it_is(evalcore, write_suite, tmp_path, canned):
    path = write_suite("suite.jsonl", [hi(1), {**hi(2), "target": "Bye!"}])
    done = evalcore("run", path, *canned, "--temperature", "0", "--max-tokens", "8", "--out", "real")
    assert done.returncode == 0, done.stderr
    before = digest(tmp_path / "real")
    told = shown(evalcore, "real", "i2", "--resend")
    assert told["resent"]["prompt"] == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert told["resent"]["reply"]["text"] == told["reply"]["text"] == "Hello!"
    assert told["resent"]["score"]["value"] == told["score"]["value"] == 0
    assert json.loads(told["http"]["body"])["messages"] == [{"role": "user", "content": "hi"}]
    text = evalcore("show", "real", "i1", "--resend").stdout
    in_order(text, "request: POST /v1/chat/completions", "reply\n", "score\n", "prompt, as the model sees it", "<|im_end|>",
             "reply now, of llama-server", "score now", "the answer is that of the run")  # fmt: skip
    assert digest(tmp_path / "real") == before


def test_another_backend_may_be_asked(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(2))
    run_graded(evalcore, tmp_path, "a", "rr")
    (tmp_path / "other").write_text('{"text": "no"}\n')
    done = evalcore("show", "a", "i000", "--resend", "-b", "scripted", "--script", "other")
    assert done.returncode == 0
    assert "this is another backend than the run's" in done.stderr
    in_order(done.stdout, "score now", 'got "no", expected "yes"', "the answer is not that of the run")
    (tmp_path / "broken").write_text('{"error": {"code": "backend_fault", "message": "broke"}}\n')
    done = evalcore("show", "a", "i000", "--resend", "-b", "scripted", "--script", "broken")
    assert (done.returncode, done.stdout) == (3, "")
    assert "broke" in done.stderr


def test_secrets_that_the_store_has_not_are_asked_for(evalcore, write_suite, keeper):
    path = write_suite("suite.jsonl", [hi(1)])
    evalcore("run", path, "-b", "openai-url", "--base-url", f"http://127.0.0.1:{keeper.server_port}",
             "--header", f"x-team={HEADER}", "--out", "a")  # fmt: skip
    done = evalcore("show", "a", "i1", "--resend")
    assert done.returncode == 2
    assert "the store does not keep the secrets that the run was given; name a backend" in done.stderr
    assert len(keeper.asked) == 1
