"""`evalcore score`: replies that are there already, without a backend."""

import contextlib
import json
import sqlite3


def lines(path, members):
    path.write_text("".join(json.dumps(one) + "\n" for one in members))
    return path


def suite(write_suite):
    return write_suite(
        "sums.jsonl",
        [
            {"id": "a", "prompt": "2+2?", "target": 4, "scorer": "numeric"},
            {"id": "b", "prompt": "?", "target": "B", "scorer": {"name": "letter", "letters": "ABC"}},
        ],
    )


def test_scores_and_verdicts(evalcore, write_suite, tmp_path):
    replies = lines(tmp_path / "replies.jsonl", [{"id": "a", "text": "<think>5?</think>It is 4."}, {"id": "b", "text": "C"}])
    done = evalcore("score", suite(write_suite), "--replies", replies, "--verdicts", tmp_path / "verdicts.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "sums: 2 items, 2 with a reply, 0 unscored",
        "numeric_match: 1.0000, 95 % interval 0.2065 to 1.0000, over 1 items",
        "accuracy: 0.0000, 95 % interval 0.0000 to 0.7935, over 1 items",
    ]
    first, second = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    assert [step["text"] for step in first["steps"]] == ["It is 4.", "4", "4", "right"]
    assert (second["value"], second["reason"]) == (0, "chose C, expected B")


def test_a_missing_reply_is_told(evalcore, write_suite, tmp_path):
    replies = lines(tmp_path / "replies.jsonl", [{"id": "a", "text": ""}, {"id": "z", "text": "4"}])
    done = evalcore("score", suite(write_suite), "--replies", replies)
    assert done.returncode == 4
    assert "answers empty: 1, with nothing to compare: 1" in done.stdout
    assert "1 replies belong to no item" in done.stderr and "1 items have no reply" in done.stderr
    whole = json.loads(evalcore("score", suite(write_suite), "--replies", replies, "--json").stdout)
    assert (whole["items"], whole["not_run"], whole["empty_answers"], whole["no_answers"]) == (2, 1, 1, 1)


def test_usage(evalcore, write_suite, tmp_path):
    done = evalcore("score", suite(write_suite), "--replies", tmp_path / "nothing.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing.jsonl" in done.stderr


def test_a_run_and_its_merge_take_another_scorer(evalcore, write_suite, tmp_path):
    items = [{"id": str(n), "prompt": f"{n}?", "target": "4"} for n in range(6)]
    path = write_suite("sums.jsonl", items)
    (tmp_path / "replies").write_text('{"text": "It is 4."}\n')
    backend = ["--backend", "scripted", "--script", "replies", "--temperature", "0"]
    assert "exact_match: 0.0000" in evalcore("run", path, *backend, "--out", "own").stdout
    scorer = json.dumps({"name": "regex", "pattern": "[0-9]"})
    for part in ("1/2", "2/2"):
        done = evalcore("run", path, *backend, "--scorer", scorer, "--shard", part, "--out", f"part{part[0]}")
        assert done.returncode == 0, done.stderr
    merged = evalcore("merge", "whole", "part1", "part2")
    assert merged.returncode == 0, merged.stderr
    assert "exact_match: 1.0000, 95 % interval 0.6097 to 1.0000, over 6 items" in merged.stdout
    mixed = evalcore("run", path, *backend, "--shard", "2/2", "--out", "other")
    assert mixed.returncode == 0
    refused = evalcore("merge", "mixed", "part1", "other")
    assert refused.returncode == 2 and "scorer" in refused.stderr


def test_a_scorer_that_does_not_fit_is_told_before_anything_is_sent(evalcore, write_suite, tmp_path):
    path = write_suite("sums.jsonl", [{"id": "a", "prompt": "?", "target": "many"}])
    (tmp_path / "replies").write_text('{"text": "4"}\n')
    done = evalcore("run", path, "--backend", "scripted", "--script", "replies", "--scorer", "numeric", "--out", "o")
    assert done.returncode == 2 and "scorer numeric" in done.stderr
    assert not (tmp_path / "o").exists()


def test_scores_do_not_depend_on_how_many_requests_run_at_once(evalcore, write_suite, tmp_path):
    """Scores, intervals and verdicts are the same to the byte, in whichever order the replies came."""
    count = 256
    kinds = ["numeric", "exact", "f1", {"name": "includes", "ignore_case": True}]
    path = write_suite("sums.jsonl", [
        {"id": f"{n:03}", "prompt": f"What is {n:03}?", "target": str(n % 7), "scorer": kinds[n % 4], "category": f"c{n % 5}"}
        for n in range(count)])
    lines(tmp_path / "replies", [
        {"match": f"is {n:03}?", "text": f"{n * n % 7} cats" if n % 3 else str(n % 7), "delay_ms": n * 37 % 11} for n in range(count)])
    seen = []
    for many in (1, 8, 64):
        out = tmp_path / f"at{many}"
        done = evalcore("run", path, "--backend", "scripted", "--script", "replies", "--concurrency", str(many), "--out", out)
        assert done.returncode == 0, done.stderr
        summary = json.loads((out / "summary.json").read_text())
        with contextlib.closing(sqlite3.connect(out / "run.db")) as store:
            verdicts = store.execute("SELECT item_id, value, extracted, reason FROM items JOIN replies USING (item_key)"
                                     " JOIN scores USING (reply_id) ORDER BY item_id").fetchall()
        assert len(verdicts) == count and len({value for _, value, _, _ in verdicts}) > 2
        seen.append((summary["metrics"], summary["macro"], verdicts))
    assert seen[0] == seen[1] == seen[2]


def test_reported_a_category_that_was_not_evaluated_has_no_score(evalcore, write_suite, tmp_path):
    path = write_suite("sums.jsonl", [{"id": c, "prompt": "2+2?", "target": 4, "scorer": "numeric", "category": c} for c in "xyz"])
    replies = lines(tmp_path / "replies.jsonl", [{"id": "x", "text": "4"}])
    whole = json.loads(evalcore("score", path, "--replies", replies, "--json").stdout)
    assert [(one["category"], one["score"], one["score_bounds"], one["scored"]) for one in whole["metrics"]] == [
        ("x", 1, [1, 1], 1), ("y", None, [0, 1], 0), ("z", None, [0, 1], 0)]
    assert [one["interval"] for one in whole["metrics"][1:]] == [None, None]
    assert (whole["answered"], whole["not_run"], whole["score_bounds"]) == (1, 2, [1 / 3, 1])
    assert (whole["macro"][0]["categories"], whole["macro"][0]["unevaluated"]) == (3, 2)
    shown = evalcore("score", path, "--replies", replies).stdout
    assert "y numeric_match: not evaluated, none of 1 items is scored" in shown
    assert "over 3 categories, 2 of which were not evaluated and count as wrong" in shown
