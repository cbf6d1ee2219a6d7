"""A run that is killed, and one of which a request fails."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from conftest import REPOSITORY
from mock_server import answer_to

from evalcore import errors

DOCS = [{"question": f"Which number is that of document {number}?"} for number in range(24)]
ASKED = {
    "output_type": "generate_until",
    "doc_to_text": "{{question}}",
    "doc_to_target": "{{question}}",
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}


def kept(folder):
    """The documents whose answers the store has."""
    with contextlib.closing(sqlite3.connect(folder / "generate_until/run.db")) as store:
        return {int(item) for (item,) in store.execute("SELECT item_id FROM items JOIN replies USING (item_key)")}


def test_a_killed_run_goes_on_and_sends_no_finished_request_again(server, task, tmp_path):
    (tmp_path / "numbers.yaml").write_text(json.dumps(task("numbers", DOCS, **ASKED)))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "evalcore.lm_eval", "run", "--model", "evalcore", "--tasks", "numbers",
               "--include_path", tmp_path, "--output_path", tmp_path / "results", "--log_samples",
               "--model_args", f"base_url={server.url},model=m,concurrency=2,out={out}"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
    server.delay_s = 0.1
    process = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)  # fmt: skip
    deadline = time.monotonic() + 300
    while len(server.asked) < 8:
        assert time.monotonic() < deadline and process.poll() is None, process.stdout.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    process.stdout.close()
    done = kept(out)
    assert 0 < len(done) < len(DOCS)

    server.asked.clear()
    server.delay_s = 0.0
    again = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    missing = [doc["question"] for number, doc in enumerate(DOCS) if number not in done]
    assert sorted(server.prompts()) == sorted(missing)
    assert f"{len(done)} of 24 answers are those of an earlier run" in again.stderr
    samples = next((tmp_path / "results").rglob("samples_numbers_*.jsonl")).read_text().splitlines()
    told = {sample["doc_id"]: sample["resps"] for sample in map(json.loads, samples)}
    assert told == {number: [[answer_to(doc["question"])]] for number, doc in enumerate(DOCS)}


def test_a_request_that_fails_ends_the_evaluation_by_name_and_the_others_are_kept(server, task, evaluated, tmp_path):
    config = task("numbers", DOCS, **ASKED)
    args = {"base_url": server.url, "model": "m", "out": str(tmp_path / "out")}
    server.refuses = "document 17?"
    with pytest.raises(errors.InvalidRequestError) as caught:
        evaluated("evalcore", args, config)
    assert "1 of 24 requests have no answer, such as that of numbers, document 17" in caught.value.message
    assert "not served" in caught.value.message + caught.value.backend_words
    assert kept(tmp_path / "out") == set(range(24)) - {17}

    server.refuses = None
    server.asked.clear()
    _, samples = evaluated("evalcore", args, config)
    assert server.prompts() == [DOCS[17]["question"]]
    assert [sample["resps"] for sample in samples] == [[[answer_to(doc["question"])]] for doc in DOCS]


def test_answers_of_another_model_are_never_given(server, task, evaluated, tmp_path):
    config = task("numbers", DOCS, **ASKED)
    for model in ("m", "n"):
        server.asked.clear()
        evaluated("evalcore", {"base_url": server.url, "model": model, "out": str(tmp_path / "out")}, config)
        assert len(server.prompts()) == 24
        assert {body["model"] for body in server.asked} == {model}
