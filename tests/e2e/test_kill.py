"""kill -9 and Ctrl-C: what was committed is kept, is not asked again, and the rows are those of a quiet run."""

import contextlib
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

from conftest import REPOSITORY, question, rows, stored_items, summary

ITEMS = 30


def command(program, suite, proxy, out, concurrency="4"):
    return [program, "run", str(suite), "--backend", "openai-url", "--dialect", "llama-server", "--base-url", proxy.url,
            "--out", str(out), "-c", concurrency, "-q"]


def test_killed_runs_go_on_where_they_were(program, proxy_to, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [question(n) for n in range(ITEMS)])
    quiet = proxy_to()
    subprocess.run(command(program, suite, quiet, tmp_path / "quiet"), check=True, capture_output=True, timeout=120)

    randomly = random.Random(20)
    out = tmp_path / "killed"
    kills_with_progress = 0
    finished = False
    for attempt in range(40):
        done_before = stored_items(out / "run.db", tmp_path / f"copy{attempt}") if (out / "run.db").exists() else set()
        kills_with_progress += bool(done_before)
        proxy = proxy_to(delay_s=0.02)
        process = subprocess.Popen(command(program, suite, proxy, out), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        requests_until_kill = randomly.randint(1, 12)
        while len(proxy.chats) < requests_until_kill and process.poll() is None:
            time.sleep(0.001)
        time.sleep(randomly.uniform(0, 0.05))
        process.kill()
        finished = process.wait() == 0
        asked = {f"q{int(text.split()[1]):03}" for text in proxy.questions()}
        assert not asked & done_before, "an item that was committed at the kill was sent again"
        if finished:
            break
    assert finished
    assert kills_with_progress >= 2, "the kills came too late or too early to prove anything"
    assert rows(out) == rows(tmp_path / "quiet")
    assert summary(out)["answered"] == ITEMS


def test_kills_at_random_and_in_the_middle_of_a_write_lose_nothing(program):
    """A slice of `scripts/bench kill --cycles 10000`."""
    done = subprocess.run([sys.executable, REPOSITORY / "bench/kill.py", "--cycles", "300"], capture_output=True, text=True,
                          timeout=600, env=os.environ | {"EVALCORE_PROGRAM": program})
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["cycles"] >= 300
    assert min(figures["kills"].values()) >= 50, "the kills came too late or too early to prove anything"
    assert figures["lost"] == figures["sent_twice"] == 0


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_keeps_what_is_done_and_says_how_to_go_on(program, proxy_to, write_suite, tmp_path, which):
    suite = write_suite("s.jsonl", [question(n) for n in range(ITEMS)])
    proxy = proxy_to(delay_s=0.3)
    out = tmp_path / "out"
    process = subprocess.Popen(command(program, suite, proxy, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    deadline = time.monotonic() + 30
    while len(proxy.chats) < 10 and time.monotonic() < deadline:
        time.sleep(0.02)
    sent_at = time.monotonic()
    process.send_signal(which)
    _, said = process.communicate(timeout=30)
    assert time.monotonic() - sent_at < 2
    assert process.returncode == 130
    assert "the same command again goes on from there" in said
    kept = stored_items(out / "run.db", tmp_path / "copy")
    assert kept
    assert summary(out)["interrupted"] is True
    assert not (out / "rows.jsonl").exists(), "rows cannot say that items were not run"

    again = proxy_to()
    done = subprocess.run(command(program, suite, again, out), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    asked = {f"q{int(text.split()[1]):03}" for text in again.questions()}
    assert asked == {f"q{n:03}" for n in range(ITEMS)} - kept
    assert summary(out)["reused"] == len(kept)


def test_a_killed_evalcore_takes_its_server_with_it(program, llama_server, canned, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [question(n) for n in range(3000)])
    process = subprocess.Popen([program, "run", str(suite), *map(str, canned), "--out", str(tmp_path / "out"), "-q"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    children = []
    while not children and time.monotonic() < deadline:
        listed = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
        children = listed.stdout.split()
        time.sleep(0.05)
    assert children
    time.sleep(1)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    alive = children
    while alive and time.monotonic() < deadline:
        alive = [pid for pid in children if subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True,
                                                           text=True).stdout.strip() not in ("", "Z")]
        time.sleep(0.1)
    assert not alive


def test_an_interrupt_is_heard_while_asking_about_tools(program, write_suite, tmp_path):
    """The server accepts and never answers; the probe must not wait out the first-byte deadline."""
    suite = write_suite("s.jsonl", [{**question(1), "tools": [{"name": "now", "description": "", "parameters": {}}]}])
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        process = subprocess.Popen([program, "run", str(suite), "--backend", "openai-url", "--model", "m", "--base-url",
                                    f"http://127.0.0.1:{server.getsockname()[1]}", "--out", str(tmp_path / "out")],
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=2)
    assert process.returncode == 130, said


def test_a_reader_that_goes_away_does_not_end_a_run(program, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [question(n) for n in range(5)])
    (tmp_path / "script").write_text('{"text": "x", "delay_ms": 300}\n')
    process = subprocess.Popen([program, "run", str(suite), "--backend", "scripted", "--script", str(tmp_path / "script"),
                                "--out", str(tmp_path / "out"), "-c", "1"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stderr.close()
    assert process.wait(timeout=30) == 0
    assert summary(tmp_path / "out")["answered"] == 5


def test_a_killed_run_has_kept_what_its_limit_did(program, proxy_to, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [question(n) for n in range(200)])
    proxy = proxy_to(delay_s=0.5)
    out = tmp_path / "out"
    process = subprocess.Popen(command(program, suite, proxy, out, "auto"), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(proxy.chats) < 12 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)  # Longer than the second after which it is kept.
    assert process.poll() is None
    process.kill()
    process.wait()
    with contextlib.closing(sqlite3.connect(out / "run.db")) as database:
        (summary_text, limits), = database.execute("SELECT summary, limits FROM runs")
    assert summary_text is None
    endpoint, = json.loads(limits)
    assert endpoint["address"] == proxy.url
    history = endpoint["limit_history"]
    assert history[0] == {"after_s": history[0]["after_s"], "limit": 2, "why": "started"}
    assert len(history) >= 2 and max(step["limit"] for step in history) > 2
