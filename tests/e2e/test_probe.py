"""`evalcore probe`: what it prints, what it sends, and what a run keeps of it."""

import contextlib
import http.server
import json
import sqlite3
import threading

import pytest

from conftest import MODEL, REPOSITORY, free_port, hi, summary


def documented():
    """The example in the guide."""
    text = (REPOSITORY / "docs/backends.md").read_text()
    return json.loads(text.split("```json\n")[1].split("```")[0])


def stored_probe(store):
    with contextlib.closing(sqlite3.connect(store)) as database:
        return json.loads(database.execute("SELECT probe FROM runs").fetchone()[0])


class Messages(http.server.BaseHTTPRequestHandler):
    """Speaks Anthropic's messages, and refuses who comes without its key."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, reply):
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.headers.get("x-api-key") != "SENTINEL-4711":
            said = f"no: {dict(self.headers)}"
            return self.answer(401, {"type": "error", "error": {"type": "authentication_error", "message": said}})
        model = {"type": "model", "id": "m", "display_name": f"M {dict(self.headers)}"}
        return self.answer(200, {"data": [model], "has_more": False})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        self.answer(200, {"type": "message", "role": "assistant", "model": "m",
                          "content": [{"type": "text", "text": f"one {dict(self.headers)}"}],
                          "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 3}})

    def log_message(self, *_):
        pass


@pytest.fixture
def messages():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Messages)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_bare_url_gives_the_documented_report(evalcore, server_port):
    done = evalcore("probe", f"http://127.0.0.1:{server_port}", "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    report, example = json.loads(done.stdout), documented()
    assert list(report) == list(example)
    assert list(report["findings"]) == list(example["findings"])
    for name, finding in report["findings"].items():
        assert list(finding) == ["answer", "evidence"]
        if name not in ("models", "seed", "batch_invariance", "cache_invariance", "order_invariance"):
            assert finding["answer"] == example["findings"][name]["answer"], (name, finding)
    for name in ("depth", "alive", "questions", "selector", "dialect", "looks_like"):
        assert report[name] == example[name]
    table = evalcore("probe", f"http://127.0.0.1:{server_port}", "-q").stdout
    assert table.splitlines()[-1] == (
        "the server looks like llama-server, whose ways are known: use --dialect llama-server"
    )
    assert report["models"] == [report["model"]]


def test_a_started_server_is_described_in_a_table(evalcore, canned):
    done = evalcore("probe", *canned)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "llama-server, dialect llama-server, model canned-q8_0.gguf, 4 at a time, context 1024 tokens"
    findings = {line.split()[0]: line.split()[1] for line in lines[1:]}
    assert list(findings) == list(documented()["findings"])
    assert (findings["cached_tokens"], findings["prompt_logprobs"]) == ("yes", "no")
    assert "probing: seed" in done.stderr


def test_which_api_is_spoken_is_found_out_and_paid_requests_are_few(evalcore, messages, tmp_path):
    key = tmp_path / "key"
    key.write_text("SENTINEL-4711\n")
    key.chmod(0o600)
    done = evalcore("probe", f"http://127.0.0.1:{messages.server_address[1]}", "--api-key-file", key, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["selector"], report["depth"], report["models"]) == ("anthropic-url", "cheap", ["m"])
    assert report["findings"]["chat"]["answer"] == "yes"
    assert report["findings"]["cached_tokens"]["evidence"].startswith("not asked: requests to this kind of server are paid")
    assert {path for path, _ in messages.asked} == {"/v1/messages"}
    assert len(messages.asked) <= 6
    assert all(body["max_tokens"] <= 32 for _, body in messages.asked)
    assert "SENTINEL" not in done.stdout + done.stderr


def test_nobody_there_is_exit_3_and_a_wrong_target_exit_2(evalcore):
    done = evalcore("probe", f"http://127.0.0.1:{free_port()}")
    assert (done.returncode, done.stdout) == (3, "")
    assert "refused" in done.stderr
    done = evalcore("probe", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert '"nonsense"' in done.stderr
    assert evalcore("probe").returncode == 2
    assert evalcore("probe", "ftp://x").returncode == 2


def test_a_backend_that_refuses_everything_is_reported_and_exit_3(evalcore, tmp_path):
    (tmp_path / "script").write_text(json.dumps({"error": {"code": "auth", "message": "\x1b[2Jno"}}) + "\n")
    done = evalcore("probe", "scripted", "--script", "script")
    assert done.returncode == 3
    assert "chat              unknown  asked in vain: \\x1b[2Jno" in done.stdout
    assert "gives no answers" in done.stderr
    done = evalcore("run", "--probe", tmp_path / "s.jsonl", "--backend", "scripted", "--script", "script")
    assert done.returncode == 2, "there is no such suite"


def test_a_run_asks_nothing_unless_told_to_and_keeps_what_is_known(evalcore, proxy_to, write_suite, tmp_path):
    proxy = proxy_to()
    suite = write_suite("one.jsonl", [hi(1)])
    url = ["--backend", "openai-url", "--dialect", "llama-server", "--base-url", proxy.url, "--temperature", "0"]
    done = evalcore("run", suite, *url, "--out", "plain")
    assert done.returncode == 0, done.stderr
    assert proxy.questions() == ["hi"]
    kept = stored_probe(tmp_path / "plain/run.db")
    assert (kept["depth"], kept["questions"], kept["context_per_slot"]) == ("facts", 0, 1024)
    assert kept["findings"]["prompt_logprobs"]["answer"] == "no"
    assert kept["findings"]["stop"] == {"answer": "unknown", "evidence": "not asked"}
    assert summary(tmp_path / "plain")["probe"]["depth"] == "facts"

    done = evalcore("run", suite, *url, "--out", "probed", "--probe")
    assert done.returncode == 0, done.stderr
    assert len(proxy.questions()) > 15
    kept = stored_probe(tmp_path / "probed/run.db")
    assert kept["depth"] == "full"
    assert kept["findings"]["stop"]["answer"] == "yes"
    told = summary(tmp_path / "probed")["probe"]
    assert told["findings"] == {name: finding["answer"] for name, finding in kept["findings"].items()}
    assert kept["model"].endswith(MODEL.name)
