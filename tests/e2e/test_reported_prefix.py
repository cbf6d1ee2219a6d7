"""Reports about prompts whose prefix an engine had already, on evalcore with a real server."""

import pytest

from conftest import stored_replies, summary


@pytest.fixture
def run(evalcore, one_slot_port, write_suite, tmp_path):
    """Texts by item, asked one after the other in the suite's order."""

    def ask(prompts, out, *options):
        suite = write_suite(f"{out}.jsonl", [
            {"id": str(number), "prompt": prompt, "target": "x", "params": {"temperature": 0, "max_tokens": 24}}
            for number, prompt in enumerate(prompts)])  # fmt: skip
        done = evalcore("run", suite, "-b", "openai-url", "--dialect", "llama-server", "--base-url",
                        f"http://127.0.0.1:{one_slot_port}", "--out", out, "-c", "1", "--order", "suite", "-q", *options)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return {item: reply["text"] for item, reply in stored_replies(tmp_path / out).items()}

    return ask


def test_a_prompt_that_is_cached_as_a_whole_is_answered_as_before(run, tmp_path):
    texts = run(["hi", "hi"], "twice")
    assert texts == {"0": "Hello!", "1": "Hello!"}
    assert summary(tmp_path / "twice")["cached_tokens"] > 0


def test_an_empty_prompt_is_answered_or_refused_by_name(run):
    assert set(run(["", "hi"], "empty")) == {"0", "1"}


def test_a_prompt_that_leaves_a_cached_one_in_the_middle_is_answered_as_if_nothing_was_cached(run, tmp_path):
    warm = run(["abcd abcd abcd", "abX abX abX"], "warm")
    assert summary(tmp_path / "warm")["cached_tokens"] > 0
    cold = run(["abX abX abX"], "cold", "--no-prompt-cache")
    assert summary(tmp_path / "cold")["cached_tokens"] == 0
    assert warm["1"] == cold["0"]


def test_the_shortest_prompts_are_served(run):
    assert len(run(["a", "a b", "a b c"], "short")) == 3
