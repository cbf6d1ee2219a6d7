"""What a run costs, on the command line: prices, bounds and what the store knows of earlier runs."""

import contextlib
import json
import sqlite3

import pytest

from conftest import REPOSITORY, hi, question, summary

# A million tokens of each class: 1 USD of prompt, 0.5 of it cached, 4 of answer.
PRICES = {"usd_per_million_tokens": [{"model": "*", "input": 1, "cached": 0.5, "output": 4}]}


@pytest.fixture
def priced(evalcore, tmp_path):
    """Runs the command with the prices and a script whose answers have the given counts."""
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))

    def run(command, suite, *arguments, usage=None):
        if usage is not None:
            (tmp_path / "script").write_text(json.dumps({"text": "Hello!", "usage": usage}) + "\n")
        scripted = ["-b", "scripted", "--script", "script"] if command == "run" else []
        return evalcore(command, suite, *scripted, "--price", "prices.json", *arguments)

    return run


KNOWN = {"prompt_tokens": 1000, "cached_tokens": 400, "completion_tokens": 100}


def test_a_run_tells_what_it_cost(priced, write_suite, tmp_path):
    done = priced("run", write_suite("s.jsonl", [hi(1), hi(2)]), "--out", "out", usage=KNOWN)
    assert done.returncode == 0, done.stderr
    # Twice 600 at 1, 400 at 0.5 and 100 at 4 USD a million.
    assert "cost: 0.00240 USD\n" in done.stdout
    figures = summary(tmp_path / "out")
    assert figures["cost"] == {
        "usd": 0.0024, "usd_at_most": 0.0024, "spent_usd": 0.0024, "spent_usd_at_most": 0.0024, "max_usd": None,
        "usd_per_million_tokens": {"input": 1.0, "cached": 0.5, "cache_write": 1.0, "output": 4.0, "reasoning": 4.0},
    }  # fmt: skip
    with contextlib.closing(sqlite3.connect(tmp_path / "out/run.db")) as database:
        assert database.execute("SELECT cost_least, cost_most FROM attempts").fetchall() == [(1_200_000_000,) * 2] * 2


def test_a_count_that_is_not_told_makes_the_cost_a_range(priced, write_suite, tmp_path):
    done = priced(
        "run", write_suite("s.jsonl", [hi(1)]), "--out", "out", usage={"prompt_tokens": 1000, "completion_tokens": 0}
    )
    assert "cost: 0.000500 to 0.00100 USD\n" in done.stdout, done.stdout
    done = priced("run", write_suite("t.jsonl", [hi(1)]), "--out", "silent", usage={})
    assert "cost: at least 0.0000 USD\n" in done.stdout
    assert summary(tmp_path / "silent")["cost"]["usd_at_most"] is None


def test_a_run_stops_before_it_costs_too_much_and_a_higher_bound_goes_on(priced, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [question(n) for n in range(20)])
    arguments = ["--out", "out", "-c", "4", "--order", "suite"]
    done = priced("run", suite, *arguments, "--max-cost", "0.006", usage=KNOWN)
    assert done.returncode == 4, done.stderr
    stopped = summary(tmp_path / "out")
    # Each costs 0.0012; that its server counts more than its text has bytes cannot be foreseen.
    assert 0 < stopped["answered"] <= 8
    assert stopped["not_run"] == 20 - stopped["answered"]
    assert stopped["stopped"].startswith("the next request could cost more than what --max-cost 0.00600 USD leaves")
    assert not (tmp_path / "out/rows.jsonl").exists()
    again = priced("run", suite, *arguments, "--max-cost", "0.006")
    assert (again.returncode, summary(tmp_path / "out")["sent"]) == (4, 0), "what was spent is spent"
    rest = priced("run", suite, *arguments, "--max-cost", "1")
    assert rest.returncode == 0, rest.stderr
    figures = summary(tmp_path / "out")
    assert (figures["reused"], figures["answered"]) == (stopped["answered"], 20)
    assert figures["cost"]["spent_usd"] == pytest.approx(0.024)
    assert f"cost: {0.0012 * (20 - stopped['answered']):.4f} USD (0.0240 USD with earlier runs" in rest.stdout


def test_a_plan_tells_what_a_run_would_cost(priced, write_suite):
    suite = write_suite("s.jsonl", [question(n) for n in range(20)])
    planned = json.loads(priced("plan", suite, "--json").stdout)
    cached = planned["predicted_cached_bytes"] // 4
    prompts = (planned["prompt_bytes"] // 4 - cached + 0.5 * cached) / 1e6
    assert planned["cost"]["prompt_usd"] == pytest.approx(prompts)
    assert planned["cost"]["prompts_estimated"] is True
    # Every item has 8 tokens of answer at most.
    assert planned["cost"]["output_usd_at_most"] == pytest.approx(20 * 8 * 4 / 1e6)
    assert planned["cost"]["usd_at_most"] == pytest.approx(prompts + 20 * 8 * 4 / 1e6)
    expected = json.loads(priced("plan", suite, "--json", "--expected-output", "5").stdout)["cost"]
    assert expected["output_usd"] == expected["output_usd_at_most"] == pytest.approx(20 * 5 * 4 / 1e6)
    unbounded = priced("plan", write_suite("open.jsonl", [hi(1)]))
    assert "cost: at least" in unbounded.stdout
    assert "1 items have no max_tokens" in unbounded.stdout


def test_a_plan_counts_no_answers_to_choices(priced, write_suite):
    item = {"id": "a", "prompt": "The sky is", "choices": [" blue", " green"], "target": 0}
    cost = json.loads(priced("plan", write_suite("c.jsonl", [item]), "--json", "--expected-output", "5").stdout)["cost"]
    assert (cost["output_usd"], cost["output_usd_at_most"], cost["items_without_bound"]) == (0, 0, 0)
    cost = json.loads(priced("plan", write_suite("c.jsonl", [item]), "--json").stdout)["cost"]
    assert (cost["output_usd"], cost["output_usd_at_most"], cost["items_without_bound"]) == (0, 0, 0)


def test_on_the_real_server_the_plan_and_the_run_agree_on_the_prompts(evalcore, canned, write_suite, tmp_path):
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    suite = write_suite(
        "s.jsonl", [question(n, "The rules are long but the same for everyone. " * 8) for n in range(8)]
    )
    planned = evalcore("plan", suite, *canned, "--price", "prices.json", "--json")
    assert planned.returncode == 0, planned.stderr
    done = evalcore("run", suite, *canned, "--price", "prices.json", "--out", "out")
    assert done.returncode == 0, done.stderr
    figures = summary(tmp_path / "out")
    assert figures["cost"]["usd"] == figures["cost"]["usd_at_most"]
    by_hand = (figures["fed_tokens"] + 0.5 * figures["cached_tokens"] + 4 * figures["completion_tokens"]) / 1e6
    assert figures["cost"]["usd"] == pytest.approx(by_hand)
    prompts = figures["cost"]["usd"] - 4 * figures["completion_tokens"] / 1e6
    assert json.loads(planned.stdout)["cost"]["prompt_usd"] == pytest.approx(prompts, rel=0.02)


@pytest.mark.parametrize("wrong, said", [
    ('{"usd_per_million_tokens": [{"model": "other", "input": 1, "output": 1}]}', 'prices.json has no price for the model "'),
    ('{"usd_per_million_tokens": [{"model": "*", "input": 1}]}', 'prices.json: entry 1: lacks "output"'),
    ("", "prices.json: not a price file"),
])  # fmt: skip
def test_a_price_file_that_does_not_serve_is_told_before_anything_is_sent(priced, write_suite, tmp_path, wrong, said):
    suite = write_suite("s.jsonl", [hi(1)])
    (tmp_path / "prices.json").write_text(wrong)
    done = priced("run", suite, "--out", "out", usage=KNOWN)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_bound_needs_prices_and_the_length_of_every_answer(priced, evalcore, write_suite):
    suite = write_suite("s.jsonl", [hi(1)])
    assert evalcore("run", suite, "-b", "scripted", "--max-cost", "1").returncode == 2
    done = priced("run", suite, "--max-cost", "1", usage=KNOWN)
    assert done.returncode == 2
    assert 'what item "i1" can cost has no bound' in done.stderr


def test_the_example_file_reads(evalcore, write_suite):
    done = evalcore("plan", write_suite("s.jsonl", [hi(1)]), "--model", "example-mini-2", "--price",
                    REPOSITORY / "docs/prices.example.json")  # fmt: skip
    assert done.returncode == 0, done.stderr
