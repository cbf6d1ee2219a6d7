"""`evalcore compare` shows by what runs of one suite differ, item by item, and drops none; summaries and reports say
how sure a score is."""

import json

import pytest
from conftest import summary

from graded_runs import run_graded, suite_lines


def compared(evalcore, *runs):
    done = evalcore("compare", *runs, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_runs_are_compared_by_their_items(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(20, ["easy", "hard"]))
    run_graded(evalcore, tmp_path, "a", "r" * 10 + "w" * 10, prices=True)
    run_graded(evalcore, tmp_path, "b", "w" + "r" * 15 + "w" * 4)
    found = compared(evalcore, "a", "b/run.db")
    assert (found["suite"], found["items"]) == ("suite.jsonl", 20)
    assert [run["score"] for run in found["runs"]] == [0.5, 0.75]
    assert [run["model"] for run in found["runs"]] == ["a", "b"]
    assert [run["completion_tokens"] for run in found["runs"]] == [40, 40]
    # 20 × 5 tokens at 1 USD and 20 × 2 at 2 USD a million.
    assert found["runs"][0]["spent_usd"] == pytest.approx(180e-6)
    assert found["runs"][1]["spent_usd"] is None
    (between,) = found["comparisons"]
    paired = between["paired"]
    assert (paired["pairs"], paired["better"], paired["worse"]) == (20, 6, 1)
    assert paired["difference"] == pytest.approx(0.25)
    assert paired["mcnemar_p"] == pytest.approx(2 * (1 + 7) / 2**7)
    assert paired["interval_kind"] == "tango"
    assert paired["interval"][0] < 0.25 < paired["interval"][1]
    assert [item["id"] for item in between["changed"]] == ["i000", *(f"i{n:03}" for n in range(10, 16))]
    assert [(one["category"], one["paired"]["pairs"]) for one in between["categories"]] == [("easy", 10), ("hard", 10)]
    text = evalcore("compare", "a", "b").stdout
    assert "B against A: +0.2500" in text
    assert "6 better, 1 worse; McNemar's exact p 0.1250" in text
    assert "changed: i000  1 -> 0" in text
    assert "0.000180 USD" in text


def test_items_that_a_run_misses_are_shown_and_bound_the_difference(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(10))
    run_graded(evalcore, tmp_path, "a", "r" * 8 + "we")
    run_graded(evalcore, tmp_path, "b", "er" + "r" * 8)
    run_graded(evalcore, tmp_path, "c", "r" * 4, "--limit", "4")
    found = compared(evalcore, "a", "b", "c")
    counts = [(run["scored"], run["errors"], run["not_run"]) for run in found["runs"]]
    assert counts == [(9, 1, 0), (9, 1, 0), (4, 0, 6)]
    between = found["comparisons"][0]
    assert [item["id"] for item in between["missing"]] == ["i000", "i009"]
    assert between["missing"][0]["second"] == {"state": "errored", "value": None, "why": "backend_fault"}
    # Eight pairs gain 1; i000 loses 1 at worst and 0 at best, i009 gains 0 at worst and 1 at best.
    assert between["difference_bounds"] == pytest.approx([0.0, 0.2])
    assert {item["second"]["state"] for item in found["comparisons"][1]["missing"]} == {"not_run"}
    text = evalcore("compare", "a", "b").stdout
    assert "missing: i000  1 -> errored (backend_fault)" in text
    assert "with the missing items: between +0.0000 and +0.2000 over all 10" in text


def test_runs_of_a_named_scorer_are_compared_and_gated_by_its_scores(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(4))
    run_graded(evalcore, tmp_path, "a", "rwrw", "--scorer", "includes")
    run_graded(evalcore, tmp_path, "b", "rrrw", "--scorer", "includes")
    run_graded(evalcore, tmp_path, "own", "rrrw")
    found = compared(evalcore, "a", "b")
    assert [(run["score"], run["scored"], run["not_run"]) for run in found["runs"]] == [(0.5, 4, 0), (0.75, 4, 0)]
    assert [item["id"] for item in found["comparisons"][0]["changed"]] == ["i001"]
    gated = evalcore("gate", "b", "b", "--margin", "0.5", "--json")
    assert json.loads(gated.stdout)["suites"][0]["missing"] == 0
    for command in ("compare", "gate"):
        done = evalcore(command, "a", "own")
        assert done.returncode == 2
        assert "/run.db was scored by another scorer than " in done.stderr


def test_runs_that_cannot_be_compared_are_refused_by_name(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(4))
    (tmp_path / "other.jsonl").write_text(suite_lines(5))
    run_graded(evalcore, tmp_path, "a", "rrww")
    run_graded(evalcore, tmp_path, "b", "rrwwr", suite="other.jsonl")
    for runs, said in [
        (["a", "b"], "b/run.db holds answers to another suite (other.jsonl) than a/run.db"),
        (["a", "absent"], "there is no run file absent"),
        (["a"], "compare --help"),
    ]:
        done = evalcore("compare", *runs)
        assert done.returncode == 2
        assert said in done.stderr
    (tmp_path / "suite.jsonl").rename(tmp_path / "moved.jsonl")
    done = evalcore("compare", "a", "a")
    assert done.returncode == 2
    assert "--suite" in done.stderr
    assert evalcore("compare", "a", "a", "--suite", "moved.jsonl").returncode == 0
    assert not (tmp_path / "absent").exists()


def test_a_summary_says_how_sure_its_scores_are(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(40, ["easy", "hard"]))
    # Even items are easy: 15 of 20 right; odd ones hard: 0 of 20, Wilson's interval 0 to 0.1611 (Newcombe 1998).
    done = run_graded(evalcore, tmp_path, "a", "".join("r" if n % 2 == 0 and n < 30 else "w" for n in range(40)))
    easy, hard = summary(tmp_path / "a")["metrics"]
    assert (hard["score"], hard["interval_kind"]) == (0, "wilson")
    assert hard["interval"] == pytest.approx([0, 0.1611], abs=5e-5)
    assert easy["stderr"] == pytest.approx((0.75 * 0.25 / 19) ** 0.5)
    (macro,) = summary(tmp_path / "a")["macro"]
    assert (macro["metric"], macro["categories"], macro["score"]) == ("exact_match", 2, 0.375)
    assert macro["stderr"] == pytest.approx(easy["stderr"] / 2)
    assert "hard exact_match: 0.0000, 95 % interval 0.0000 to 0.1611, over 20 items" in done.stdout
    assert "macro exact_match: 0.3750, 95 % interval" in done.stdout
    # Two of two and one of two: 0.75, and t of one degree of freedom reaches from -2.4266 to 3.9266.
    (tmp_path / "suite.jsonl").write_text(suite_lines(4, ["easy", "hard"]))
    done = run_graded(evalcore, tmp_path, "b", "rrrw")
    assert "macro exact_match: 0.7500, 95 % interval 0.0000 to 1.0000, over 2 categories" in done.stdout
    assert summary(tmp_path / "b")["macro"][0]["interval"] == [0, 1]
