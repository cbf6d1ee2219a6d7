"""Several endpoints of one model, and servers that go and come back, with the real server."""

import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

import pytest

from conftest import MODEL, free_port, hi, question, serving, stored_items, summary


def command_for(llama_server, port):
    return [llama_server, "--model", MODEL, "--host", "127.0.0.1", "--port", port, "--parallel", 2,
            "--ctx-size", 2048, "--threads", 1]


@pytest.fixture
def done(tmp_path):
    """How many replies are committed so far in tmp_path/out/run.db; 0 before it is there."""

    def count():
        store = tmp_path / "out" / "run.db"
        try:
            return len(stored_items(store, tmp_path / "scratch")) if store.exists() else 0
        except sqlite3.DatabaseError:  # Copied in the middle of a change.
            return 0

    return count


def wait_for(condition, patience=60):
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        time.sleep(0.02)


def replies_of_each_item(store):
    with contextlib.closing(sqlite3.connect(store)) as database:
        return database.execute(
            "SELECT count(*), count(DISTINCT item_id) FROM replies JOIN items USING (item_key)").fetchone()


def test_three_servers_one_killed_and_brought_back(program, llama_server, tmp_path, write_suite, done):
    items = 600
    suite = write_suite("suite.jsonl", [question(i, system=f"Answer as number {i % 6}.") for i in range(items)])
    ports = [free_port() for _ in range(3)]
    with contextlib.ExitStack() as servers:
        started = [
            servers.enter_context(serving(port, command_for(llama_server, port), tmp_path / f"log{port}"))
            for port in ports
        ]
        store = tmp_path / "out" / "run.db"
        arguments = [program, "run", suite, "--backend", "openai-url", "--dialect", "llama-server", "--model", "canned",
                     "--concurrency", 2, "--rate", 40, "--out", tmp_path / "out", "--quiet"]
        for port in ports:
            arguments += ["--base-url", f"http://127.0.0.1:{port}"]
        run = subprocess.Popen(list(map(str, arguments)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wait_for(lambda: done() >= 50)
        started[1].send_signal(signal.SIGKILL)
        started[1].wait(timeout=10)
        killed_at = done()
        wait_for(lambda: done() >= killed_at + 50)
        servers.enter_context(serving(ports[1], command_for(llama_server, ports[1]), tmp_path / "log-again"))
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    of = summary(tmp_path / "out")
    assert of["answered"] == items and of["errors"] == 0 and of["not_run"] == 0
    assert replies_of_each_item(store) == (items, items)
    assert [one["address"] for one in of["endpoints"]] == [f"http://127.0.0.1:{port}" for port in ports]
    assert sum(one["answered"] for one in of["endpoints"]) == items
    assert of["endpoints"][1]["failed"] > 0
    # It cannot have answered more than all had by then, so it answered again afterwards.
    assert of["endpoints"][1]["answered"] > killed_at
    assert of["endpoints"][0]["failed"] == of["endpoints"][2]["failed"] == 0
    assert of["retried"] == of["endpoints"][1]["failed"] == sum(of["retries_by_class"].values())


def test_servers_that_differ_are_no_endpoints_of_one_run(evalcore, llama_server, tmp_path, write_suite):
    suite = write_suite("suite.jsonl", [hi(1)])
    ports = [free_port(), free_port()]
    commands = [command_for(llama_server, port) for port in ports]
    with serving(ports[0], commands[0], tmp_path / "log0"), serving(ports[1], commands[1], tmp_path / "log1"):
        refused = evalcore("run", suite, "--backend", "openai-url", "--model", "a",
                           "--base-url", f"http://127.0.0.1:{ports[0]}", "--base-url", "http://127.0.0.1:9")
    assert refused.returncode == 3
    assert "http://127.0.0.1:9" in refused.stderr


def server_pid(parent):
    """The one child of `parent` that is a server."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and b"--ctx-size" in (entry / "cmdline").read_bytes():
                return int(entry.name)
    return None


def test_a_managed_server_that_dies_is_started_again(program, canned, tmp_path, write_suite, done):
    items = 120
    suite = write_suite("suite.jsonl", [question(i) for i in range(items)])
    store = tmp_path / "out" / "run.db"
    run = subprocess.Popen(
        list(map(str, [program, "run", suite, *canned, "--slots", 4, "--out", tmp_path / "out"])),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for(lambda: done() >= 10)
    os.kill(server_pid(run.pid), signal.SIGKILL)
    output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    of = summary(tmp_path / "out")
    assert of["answered"] == items and of["errors"] == 0
    assert of["retries_by_class"].get("backend_fault", 0) >= 1, of["retries_by_class"]
    assert "llama-server died (signal 9)" in output
    assert of["endpoints"][0]["limit"] == 2
    assert replies_of_each_item(store) == (items, items)


def test_an_item_that_kills_its_server_twice_is_left_out(program, tmp_path, write_suite):
    """A stand-in that dies on one prompt: the other items are answered, and that one errs after two deaths."""
    stand_in = tmp_path / "deadly"
    stand_in.write_text(DEADLY_SERVER)
    stand_in.chmod(0o755)
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    suite = write_suite("suite.jsonl", [
        {"id": f"i{i}", "prompt": "die" if i == 5 else f"say {i}", "target": "ok"} for i in range(12)])
    ran = subprocess.run(
        list(map(str, [program, "run", suite, "--backend", "mlx-server", "--server-program", stand_in,
                       "--model", tmp_path, "--concurrency", 4, "--out", tmp_path / "out", "--temperature", 0])),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert ran.returncode == 4, ran.stdout
    of = summary(tmp_path / "out")
    assert of["answered"] == 11 and of["errors"] == 1
    assert of["errors_by_class"] == {"backend_fault": 1}
    assert "died twice while this item was out" in ran.stdout
    assert (tmp_path / "deaths").read_text() == "xx"


DEADLY_SERVER = """#!/usr/bin/env python3
import http.server, json, os, pathlib, sys, time

port = int(sys.argv[sys.argv.index("--port") + 1])
folder = pathlib.Path(sys.argv[sys.argv.index("--model") + 1])


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def tell(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.tell({"status": "ok", "data": [{"id": "m"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(0.1)
        if asked["messages"][-1]["content"] == "die":
            with open(folder / "deaths", "a") as deaths:
                deaths.write("x")
            os._exit(1)
        self.tell({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}]})


http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
