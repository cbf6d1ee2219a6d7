"""A run on the real server: right answers, rows and figures."""

import gzip
import json
import os
import subprocess

from conftest import MODEL, hi, question, rows, summary


def test_a_suite_runs_and_is_scored(evalcore, canned, write_suite, tmp_path):
    suite = write_suite("greetings.jsonl", [
        hi(1),
        {"id": "e", "prompt": "emoji", "target": "café 😀 你好"},
        {"id": "wrong", "prompt": "hi", "target": "Goodbye!"},
        {"id": "n", "prompt": "think", "target": 4, "scorer": "numeric", "category": "sums"},
    ])
    done = evalcore("run", suite, *canned, "--temperature", "0", "--max-tokens", "64", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "out") == [
        {"baseline": False, "harness_version": rows(tmp_path / "out")[0]["harness_version"], "metric": "exact_match",
         "model_name": "canned-q8_0.gguf", "model_path": str(MODEL), "n_examples": 3, "score": 2 / 3,
         "task": "greetings"},
        {"baseline": False, "harness_version": rows(tmp_path / "out")[0]["harness_version"], "metric": "numeric_match",
         "model_name": "canned-q8_0.gguf", "model_path": str(MODEL), "n_examples": 1, "score": 1,
         "subtask": "sums", "task": "greetings"},
    ]
    figures = summary(tmp_path / "out")
    assert (figures["items"], figures["answered"], figures["errors"], figures["sent"]) == (4, 4, 0, 4)
    assert figures["score"] == 0.75
    assert figures["mean_ttft_s"] > 0
    assert figures["backend"]["identity"]["selector"] == "llama-server"
    assert "prefix cached:" in done.stdout


def test_a_gzipped_suite_gives_the_same_scores(evalcore, canned, tmp_path):
    (tmp_path / "zipped.jsonl.gz").write_bytes(gzip.compress((json.dumps(hi(1)) + "\n").encode()))
    done = evalcore("run", "zipped.jsonl.gz", *canned, "--temperature", "0", "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["score"] == 1


def test_the_same_command_again_sends_nothing(evalcore, canned, write_suite, tmp_path):
    suite = write_suite("again.jsonl", [question(n) for n in range(6)])
    first = evalcore("run", suite, *canned, "--out", "out")
    before = rows(tmp_path / "out")
    second = evalcore("run", suite, *canned, "--out", "out")
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    figures = summary(tmp_path / "out")
    assert (figures["reused"], figures["sent"], figures["answered"]) == (6, 0, 6)
    assert rows(tmp_path / "out") == before


def test_a_changed_item_is_sent_and_the_others_are_not(evalcore, proxy_to, write_suite, tmp_path):
    """The request decides, not the id: what was asked differently is asked again."""
    proxy = proxy_to()
    url = ["--backend", "openai-url", "--dialect", "llama-server", "--base-url", proxy.url, "--out", "out"]
    items = [question(n) for n in range(4)]
    assert evalcore("run", write_suite("s.jsonl", items), *url, "--store", "one.db").returncode == 0
    proxy.chats.clear()
    done = evalcore("run", "s.jsonl", *url, "--store", "one.db", "--max-tokens", "5")
    assert done.returncode == 0, done.stderr
    assert proxy.questions() == [], "every item says its own max_tokens, so nothing changed"
    done = evalcore("run", "s.jsonl", *url, "--store", "one.db", "--seed", "7")
    assert sorted(proxy.questions()) == [f"number {n}" for n in range(4)]


def test_the_plan_predicts_what_the_server_reports(evalcore, canned, write_suite, tmp_path):
    """In total within 2 %, the copies into other slots counted as cached."""
    shared = "You are terse. " + "The rules are long but the same for everyone. " * 8
    suite = write_suite("planned.jsonl", [question(n, shared) for n in range(16)])
    planned = evalcore("plan", suite, *canned, "--json")
    assert planned.returncode == 0, planned.stderr
    predicted = json.loads(planned.stdout)["predicted_cached_tokens"]
    done = evalcore("run", suite, *canned, "--out", "out")
    assert done.returncode == 0, done.stderr
    reported = summary(tmp_path / "out")["cached_tokens"]
    assert reported > 15 * 300
    assert abs(predicted - reported) <= 0.02 * reported


def test_nothing_is_left_running_or_lying_about(evalcore, canned, write_suite, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = evalcore("run", write_suite("one.jsonl", [hi(1)]), *canned, "--out", "out",
                    env={**os.environ, "TMPDIR": str(scratch)})
    assert done.returncode == 0, done.stderr
    assert list(scratch.iterdir()) == []
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["rows.jsonl", "run.db", "summary.json"]


def test_more_requests_than_files_may_be_open_are_not_errors(program, proxy_to, write_suite, tmp_path):
    suite = write_suite("wide.jsonl", [question(n) for n in range(150)])
    proxy = proxy_to(delay_s=0.05)
    bounded = f"ulimit -n 90; exec {program} run {suite} --backend openai-url --base-url {proxy.url} --model m --out out -c 120"
    done = subprocess.run(["bash", "-c", bounded], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "ulimit -n" in done.stderr
    assert summary(tmp_path / "out")["concurrency"] == 26


def test_counts_that_cannot_be_are_left_out(evalcore, write_suite, tmp_path):
    (tmp_path / "script").write_text(json.dumps(
        {"text": "Hello!", "usage": {"prompt_tokens": 5, "cached_tokens": 500, "completion_tokens": 1}}) + "\n")
    done = evalcore("run", write_suite("s.jsonl", [hi(1)]), "--backend", "scripted", "--script", "script", "--out", "out")
    assert done.returncode == 0
    figures = summary(tmp_path / "out")
    assert (figures["prompt_tokens"], figures["cached_tokens"], figures["fed_tokens"]) == (None, None, None)
    assert figures["unbelievable_usage"] == 1
    assert "token counts that cannot be" in done.stderr
