"""Scoring, comparing, gating and planning give what the command prints and writes."""

import json
import os
import subprocess

import pytest

import evalcore


@pytest.fixture
def runs(tmp_path, scripted):
    """Two runs of four items; the second is wrong in one."""
    items = [{"id": n, "prompt": f"q{n}", "target": "yes"} for n in range(4)]
    suite = tmp_path / "suite.jsonl"
    suite.write_text("".join(json.dumps(item) + "\n" for item in items))
    evalcore.run(suite, scripted({"text": "yes"}), out=tmp_path / "base")
    evalcore.run(suite, scripted({"match": "q3", "text": "no"}, {"text": "yes"}), out=tmp_path / "tuned")
    return tmp_path


def command(folder, *arguments):
    done = subprocess.run([os.environ["EVALCORE_PROGRAM"], *arguments], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_comparison_is_what_the_command_prints(runs):
    told = evalcore.compare(runs / "base", runs / "tuned" / "run.db")
    assert told == json.loads(command(runs, "compare", str(runs / "base"), str(runs / "tuned"), "--json")[1])
    assert told["comparisons"][0]["paired"]["difference"] == -0.25


def test_a_gate_gives_the_bytes_of_the_result_file_and_the_verdict(runs):
    for margin, verdict, status in (("0.9", "pass", 0), ("0.02", "inconclusive", 5)):
        found = evalcore.gate(runs / "tuned", runs / "base", margin=float(margin))
        done, _ = command(runs, "gate", str(runs / "tuned"), str(runs / "base"), "--margin", margin)
        assert (found.verdict, done) == (verdict, status)
        assert found.json == (runs / "gate-result.json").read_text()
        assert found.figures["verdict"] == verdict


def test_rows_are_gated_to_the_byte_of_the_result_file(tmp_path):
    row = {"task": "bfcl", "metric": "accuracy", "score": 0.8}
    (tmp_path / "base.jsonl").write_text(json.dumps(row))
    (tmp_path / "new.jsonl").write_text(json.dumps({**row, "score": 0.7}))
    spec = {"baseline": "base.jsonl", "suites": [{"name": "bfcl"}]}
    (tmp_path / "eval-gate.json").write_text(json.dumps(spec))
    rows = [(tmp_path / name).read_bytes() for name in ("new.jsonl", "base.jsonl")]
    found = evalcore.gate_rows(*rows, spec=spec)
    assert command(tmp_path, "gate", "--compat", "--candidate", "new.jsonl")[0] == 1
    assert found.verdict == "fail"
    assert found.json == (tmp_path / "gate-result.json").read_text()
    assert evalcore.gate_rows(*rows, spec=spec, threshold=11).verdict == "pass"


def test_replies_are_scored_as_the_command_does(tmp_path, write_lines):
    items = [{"id": 1, "prompt": "q", "target": "yes"}, {"id": 2, "prompt": "q", "target": "no"}]
    suite = write_lines("suite.jsonl", *items)
    replies = write_lines("replies.jsonl", {"id": 1, "text": "yes"}, {"id": 2, "text": "NO"}, {"id": 3, "text": "?"})
    found = evalcore.score(suite, replies)
    printed = command(tmp_path, "score", str(suite), "--replies", str(replies), "--json")[1]
    assert found.summary == json.loads(printed)
    assert (found.summary["score"], found.unknown) == (0.5, 1)
    assert [one["value"] for one in found.verdicts] == [1.0, 0.0]
    assert evalcore.score(suite, replies, scorer='{"name": "includes", "ignore_case": true}').summary["score"] == 1
    with pytest.raises(evalcore.errors.NotFoundError, match="chance"):
        evalcore.score(suite, replies, scorer="chance")


def test_a_plan_is_what_the_command_prints(tmp_path):
    found = evalcore.power(margin=0.03, items=400, looks=2)
    printed = command(tmp_path, "power", "--margin", "0.03", "--items", "400", "--looks", "2", "--json")[1]
    assert found == json.loads(printed)
    with pytest.raises(evalcore.errors.InvalidArgumentError, match="differing"):
        evalcore.power(difference=0.2)


def test_what_is_wrong_is_told_by_name(runs):
    with pytest.raises(evalcore.errors.InvalidArgumentError, match="margin must be"):
        evalcore.gate(runs / "tuned", runs / "base", margin=0)
    with pytest.raises(evalcore.errors.NotFoundError, match="absent"):
        evalcore.compare(runs / "base", runs / "absent")
    with pytest.raises(TypeError, match="2 candidates"):
        evalcore.gate([runs / "tuned", runs / "tuned"], runs / "base")
