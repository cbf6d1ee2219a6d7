"""Items with choices, which the model in the command's own process scores by likelihood; the numbers to expect are
llama-cpp-python's."""

import json

import pytest

from conftest import MODEL, REPOSITORY, rows, stored_replies, summary

SLOTS = ["--context-per-slot", "1024"]
EXACT_MODEL = REPOSITORY / "tests/data/models/canned/canned.gguf"
KNOWN = json.loads((REPOSITORY / "tests/data/engine/llama_numbers.json").read_text())["cases"]
# The blank at the end of a prompt would belong to its choices.
CASE = next(one for one in KNOWN if one["text"] == one["text"].rstrip())


def text_of(tokens):
    """The tiny model's vocabulary begins with the printable ASCII characters."""
    return "".join({198: "\n", 220: " "}.get(token, chr(ord("!") + token)) for token in tokens)


@pytest.fixture
def suite(write_suite):
    """The same question four times, once with each choice as the right one, as its text or as its place."""
    choices = [text_of(one["tokens"]) for one in CASE["continuations"]]
    return write_suite(
        "choices.jsonl",
        [
            {"id": str(right), "prompt": CASE["text"], "choices": choices, "target": choice if right % 2 else right}
            for right, choice in enumerate(choices)
        ],
    )


def choices_in(folder):
    return {item: reply["choices"] for item, reply in stored_replies(folder).items()}


def metrics(folder):
    return {one["metric"]: one["score"] for one in summary(folder)["metrics"]}


@pytest.mark.parametrize("evaluation, tolerance", [("parity", 0.001), ("fast", 0.01)])
def test_likelihoods_and_metrics_are_those_of_another_evaluation_of_the_same_weights(
    evalcore, suite, tmp_path, evaluation, tolerance
):
    done = evalcore("run", suite, "--model", EXACT_MODEL, *SLOTS, "--evaluation", evaluation, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "temperature" not in done.stderr
    for told in choices_in(tmp_path / "out").values():
        for got, known in zip(told, CASE["continuations"], strict=True):
            assert got["tokens"] == len(known["tokens"])
            assert got["is_greedy"] == known["is_greedy"]
            assert got["sum_logprob"] == pytest.approx(known["sum_logprob"], abs=tolerance * len(known["tokens"]))
    # " oo" has -1.26, and -0.63 for a character; the others are below -7, and "!" is the next for a character.
    assert metrics(tmp_path / "out") == {"acc": 0.25, "acc_norm": 0.25}
    whole = summary(tmp_path / "out")
    assert whole["score"] == 0.25
    assert whole["prompt_tokens"] == 4 * len(CASE["tokens"])
    assert (whole["completion_tokens"], whole["empty_answers"]) == (0, 0)
    assert [(row["metric"], row["n_examples"]) for row in rows(tmp_path / "out")] == [("acc", 4), ("acc_norm", 4)]


def test_likelihoods_are_the_same_alone_and_together_cold_and_warm_and_a_run_goes_on(evalcore, write_suite, tmp_path):
    shown = "Question: which one is it?\nAnswer: this one\n\n" * 4
    suite = write_suite(
        "shared.jsonl",
        [
            {
                "id": name,
                "prompt": f"{shown}Question: {name}?\nAnswer:",
                "choices": [" this one", " that", " none"],
                "target": 0,
            }
            for name in ("red", "green", "blue", "grey", "pink")
        ],
    )
    alone = evalcore(
        "run", suite, "--model", MODEL, *SLOTS, "--slots", 1, "--order", "suite", "--no-prompt-cache", "--out", "alone"
    )
    assert alone.returncode == 0, alone.stderr
    assert summary(tmp_path / "alone")["cached_tokens"] == 0
    common = ["run", suite, "--model", MODEL, *SLOTS, "--slots", 4, "--out", "together"]
    together = evalcore(*common)
    assert together.returncode == 0, together.stderr
    whole = summary(tmp_path / "together")
    assert whole["cached_tokens"] == whole["prefix"]["predicted_cached_tokens"] >= 64
    assert choices_in(tmp_path / "alone") == choices_in(tmp_path / "together")
    planned = json.loads(evalcore("plan", suite, "--model", MODEL, *SLOTS, "--slots", 4, "--json").stdout)
    assert planned["predicted_cached_tokens"] == whole["cached_tokens"]
    before = rows(tmp_path / "together")
    assert evalcore(*common).returncode == 0
    assert summary(tmp_path / "together")["reused"] == 5
    assert rows(tmp_path / "together") == before


def test_parts_of_a_suite_merge_into_what_one_run_gives(evalcore, suite, tmp_path):
    for part in ("1/2", "2/2"):
        out = f"part{part[0]}"
        done = evalcore("run", suite, "--model", EXACT_MODEL, *SLOTS, "--shard", part, "--out", out)
        assert done.returncode == 0, done.stderr
    merged = evalcore("merge", "merged", "part1", "part2")
    assert merged.returncode == 0, merged.stderr
    whole = evalcore("run", suite, "--model", EXACT_MODEL, *SLOTS, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    assert rows(tmp_path / "merged") == rows(tmp_path / "whole")
    assert summary(tmp_path / "merged")["score"] == 0.25


def test_a_backend_that_cannot_score_choices_is_named_before_anything_is_sent(evalcore, suite, canned, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"text": "Paris"}) + "\n")
    for backend, said in (
        (["--backend", "scripted", "--script", script], "this backend only generates text"),
        (canned, "returns no logprobs of the prompt"),
    ):
        done = evalcore("run", suite, *backend, "--out", "out")
        assert done.returncode == 2
        assert said in done.stderr
        assert "choices.jsonl:" in done.stderr
