"""Reports about what other tools left behind and took up again, on this one."""

import contextlib
import http.server
import json
import sqlite3
import threading

import pytest

from conftest import summary

LONE_SURROGATE = (
    b'{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",'
    b'"message":{"role":"assistant","content":"x\\ud800y"}}]}'
)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(b'{"object":"list","data":[{"id":"m","object":"model"}]}')

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(LONE_SURROGATE)


@pytest.fixture
def url():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def ids_and_bodies(folder):
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        return database.execute("SELECT item_id, body FROM items JOIN replies USING (item_key) JOIN scores USING (reply_id)"
                                " ORDER BY reply_id").fetchall()  # fmt: skip


def test_half_a_surrogate_pair_is_stored_as_a_replacement_and_flagged(evalcore, url, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [{"id": "a", "prompt": "hi", "target": "x\ufffdy"}])
    for reused in (0, 1):
        done = evalcore("run", suite, "-b", "openai-url", "--base-url", url, "--model", "m", "--out", "out", "-q")
        assert done.returncode == 0, done.stderr
        assert summary(tmp_path / "out")["reused"] == reused
        assert summary(tmp_path / "out")["score"] == 1
    ((_, body),) = ids_and_bodies(tmp_path / "out")
    body.encode()  # Would raise where half a pair was left.
    assert json.loads(body)["text"] == "x\ufffdy"
    assert json.loads(body)["damage"] == ["lone_surrogate"]


def test_a_model_name_of_300_characters_makes_no_name_of_a_file(evalcore, url, write_suite, tmp_path):
    model = "org/" + "m" * 296
    suite = write_suite("s.jsonl", [{"id": "a", "prompt": "hi", "target": "x"}])
    for reused in (0, 1):
        done = evalcore("run", suite, "-b", "openai-url", "--base-url", url, "--model", model, "--out", "out", "-q")
        assert done.returncode == 0, done.stderr
        assert summary(tmp_path / "out")["reused"] == reused
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"run.db", "rows.jsonl", "summary.json"}
    assert json.loads((tmp_path / "out/rows.jsonl").read_text())["model_name"] == model


def test_an_item_has_the_id_of_its_suite_wherever_it_is_named(evalcore, write_suite, tmp_path):
    ids = ["simple_0", "simple_1", "10", "1"]
    script = [{"match": f"item {name} ", "text": f"reply to {name}"} for name in ids[:3]]
    script.append({"error": {"code": "invalid_request", "message": "no"}})
    (tmp_path / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in script))
    suite = write_suite("s.jsonl", [{"id": name, "prompt": f"item {name} please", "target": "x"} for name in ids])
    done = evalcore("run", suite, "-b", "scripted", "--script", "script.jsonl", "--out", "out", "-c", "1", "-q",
                    "--temperature", "0")  # fmt: skip
    assert done.returncode == 4
    assert {name: json.loads(body)["text"] for name, body in ids_and_bodies(tmp_path / "out")} == {
        name: f"reply to {name}" for name in ids[:3]}  # fmt: skip
    assert 'item "1" errored' in done.stderr
