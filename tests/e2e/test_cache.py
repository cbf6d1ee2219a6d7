"""`--cache`: after a change of the suite only what changed is sent, and what is reused is said first."""

import json

import pytest

from conftest import hi, summary


@pytest.fixture
def run(evalcore, write_suite, tmp_path):
    (tmp_path / "script.jsonl").write_text(json.dumps({"text": "Hello!"}) + "\n")

    def start(items, out, *options):
        return evalcore("run", write_suite("s.jsonl", items), "-b", "scripted", "--script", "script.jsonl", "--out", out,
                        "--temperature", "0", "-q", *options)  # fmt: skip

    return start


def asks(number):
    return {"id": f"i{number}", "prompt": f"number {number}", "target": "Hello!"}


def test_a_line_that_changed_is_sent_alone(run, tmp_path):
    assert run([asks(n) for n in range(5)], "out").returncode == 0
    changed = [asks(n) for n in range(4)] + [{**asks(9), "id": "i4"}]
    done = run(changed, "out", "--cache")
    assert done.returncode == 0
    assert done.stderr == ("evalcore: 0 of 5 items are answered in the store and reused, "
                           "4 by replies to the same request; 1 are sent\n")  # fmt: skip
    assert {key: summary(tmp_path / "out")[key] for key in ("items", "reused", "reused_from_cache", "sent", "score")} == {
        "items": 5, "reused": 4, "reused_from_cache": 4, "sent": 1, "score": 1}  # fmt: skip


def test_a_store_that_is_named_answers_a_run_in_another_folder(run, tmp_path):
    assert run([asks(n) for n in range(3)], "first").returncode == 0
    done = run([asks(n) for n in range(4)], "second", "--cache", "first/run.db")
    assert done.returncode == 0, done.stderr
    assert (summary(tmp_path / "second")["reused_from_cache"], summary(tmp_path / "second")["sent"]) == (3, 1)
    # Naming the run's own store is the same as naming none.
    assert run([asks(n) for n in range(5)], "second", "--cache", "second/run.db").returncode == 0
    assert summary(tmp_path / "second")["reused_from_cache"] == 4


def test_a_store_that_is_not_there_is_no_empty_cache(run, tmp_path):
    done = run([hi(0)], "out", "--cache", "frist/run.db")
    assert done.returncode == 2
    assert done.stderr == ("evalcore: there is no store frist/run.db to take replies from (--cache); "
                           "without a name it reuses what out/run.db has\n")  # fmt: skip
    assert not (tmp_path / "frist").exists() and not (tmp_path / "out").exists()


def test_sampled_answers_are_reused_only_when_that_is_asked_for(evalcore, write_suite, tmp_path):
    (tmp_path / "script.jsonl").write_text(json.dumps({"text": "Hello!"}) + "\n")
    for items, option, reused in ((1, "--cache", 0), (2, "--cache", 0), (3, "--cache-sampled", 2)):
        done = evalcore("run", write_suite("s.jsonl", [asks(n) for n in range(items)]), "-b", "scripted", "--script",
                        "script.jsonl", "--out", "out", "-q", "--temperature", "0.8", option)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert summary(tmp_path / "out")["reused_from_cache"] == reused
