"""The model in the command's own process, which is the default backend."""

import json

import pytest

from conftest import MODEL, rows, stored_replies, summary

SYSTEM = "You answer briefly. " * 12
SLOTS = ["--context-per-slot", "1024"]


@pytest.fixture
def suite(write_suite):
    """Two system turns over a common beginning, with twelve and two questions below them."""
    return write_suite("suite.jsonl", [
        {"id": f"{kind}{number}",
         "messages": [{"role": "system", "content": SYSTEM + kind}, {"role": "user", "content": f"number {number}"}],
         "target": "x", "params": {"temperature": 0, "max_tokens": 12}}
        for number in range(12) for kind in ("in prose. " * 10, "in verse. " * 10)
        if "prose" in kind or number < 2])


def texts(folder):
    return {item: reply["text"] for item, reply in stored_replies(folder).items()}


def test_answers_are_the_same_alone_and_together_cold_and_warm(evalcore, suite, tmp_path):
    alone = evalcore("run", suite, "--model", MODEL, *SLOTS, "--slots", 1, "--order", "suite", "--no-prompt-cache",
                     "--out", "alone")
    assert alone.returncode == 0, alone.stderr
    together = evalcore("run", suite, "--model", MODEL, *SLOTS, "--slots", 4, "--out", "together")
    assert together.returncode == 0, together.stderr
    assert texts(tmp_path / "alone") == texts(tmp_path / "together")
    assert summary(tmp_path / "alone")["cached_tokens"] == 0
    assert summary(tmp_path / "together")["backend"]["selector"] == "embedded"


def test_each_prefix_is_computed_once_on_the_grid(evalcore, suite, tmp_path):
    done = evalcore("run", suite, "--model", MODEL, *SLOTS, "--slots", 4, "--out", "out")
    assert done.returncode == 0, done.stderr
    whole = summary(tmp_path / "out")
    assert whole["prefix"]["unit"] == "tokens"
    assert whole["cached_tokens"] == whole["prefix"]["predicted_cached_tokens"] > 0
    assert whole["cached_tokens"] % 64 == 0
    planned = json.loads(evalcore("plan", suite, "--model", MODEL, *SLOTS, "--slots", 4, "--json").stdout)
    assert planned["predicted_cached_tokens"] == whole["cached_tokens"]
    prompts = [reply["usage"]["prompt_tokens"] for reply in stored_replies(tmp_path / "out").values()]
    assert planned["longest_prompt_tokens"] == max(prompts)
    assert planned["prompt_tokens"] == sum(prompts)


def test_fast_shares_all_that_is_common(evalcore, suite, tmp_path):
    done = evalcore("run", suite, "--model", MODEL, *SLOTS, "--slots", 4, "--evaluation", "fast", "--out", "out")
    assert done.returncode == 0, done.stderr
    whole = summary(tmp_path / "out")
    assert whole["cached_tokens"] == whole["prefix"]["predicted_cached_tokens"] > 0
    assert whole["backend"]["identity"]["evaluation"] == "fast"


@pytest.mark.parametrize("arguments, slots, words", [
    # No more than there are items.
    ([], 14, "14 slots of 1024 tokens, "),
    (["--evaluation", "fast"], 14, "14 slots of 1024 tokens"),
    (["--max-concurrency", 3], 3, "3 slots of 1024 tokens, "),
    # Kept prefixes may take all memory.
    (["--cache-memory-max-gb", 1000000], 1, "free memory has no room for more"),
    (["--cache-memory-max-gb", 1000000, "--no-prompt-cache"], 14, "14 slots of 1024 tokens, "),
])
def test_auto_opens_as_many_slots_as_fit(evalcore, suite, tmp_path, arguments, slots, words):
    done = evalcore("run", suite, "--model", MODEL, *SLOTS, "--concurrency", "auto", *arguments, "--out", "out")
    assert done.returncode == 0, done.stderr
    whole = summary(tmp_path / "out")
    assert whole["backend"]["slots"] == whole["concurrency"] == slots
    assert whole["concurrency_adaptive"]
    assert words in done.stderr
    history = whole["endpoints"][0]["limit_history"]
    assert all(change["limit"] <= slots for change in history)


def test_text_completions_are_asked_of_the_model_without_its_template(evalcore, write_suite, tmp_path):
    item = {"id": "one", "prompt": "hi", "target": "x", "params": {"temperature": 0, "max_tokens": 4}}
    suite = write_suite("plain.jsonl", [item])
    for api in ("chat", "completions"):
        done = evalcore("run", suite, "--model", MODEL, *SLOTS, "--api", api, "--out", api)
        assert done.returncode == 0, done.stderr
    prompts = {api: summary(tmp_path / api)["prompt_tokens"] for api in ("chat", "completions")}
    # A token for each of the two letters, and perhaps a beginning; a template has many of its own.
    assert prompts["completions"] in (2, 3) and prompts["chat"] > 5
    assert summary(tmp_path / "completions")["backend"]["identity"]["api"] == "completions"


def test_named_slots_win(evalcore, suite, tmp_path):
    done = evalcore("run", suite, "--model", MODEL, *SLOTS, "--concurrency", "auto", "--slots", 2, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert summary(tmp_path / "out")["backend"]["slots"] == 2
    assert "slots of" not in done.stderr


def test_the_summary_tells_the_time_to_first_tokens_and_the_most_memory(evalcore, suite, tmp_path):
    done = evalcore("run", suite, "--model", MODEL, *SLOTS, "--out", "out")
    assert done.returncode == 0, done.stderr
    whole = summary(tmp_path / "out")
    times = [reply["timing"] for reply in stored_replies(tmp_path / "out").values()]
    assert all(0 < one["first_token_ns"] <= one["total_ns"] for one in times)
    assert whole["mean_ttft_s"] == pytest.approx(sum(one["first_token_ns"] for one in times) / len(times) / 1e9)
    # The model's file is mapped, and four slots of memory are beside it.
    assert MODEL.stat().st_size / 1e9 < whole["peak_memory_gb"] < 16


def test_a_run_goes_on_where_it_was_and_never_mixes_evaluations(evalcore, suite, tmp_path):
    common = ["run", suite, "--model", MODEL, *SLOTS, "--out", "out"]
    assert evalcore(*common, "--limit", 4).returncode == 0
    assert evalcore(*common).returncode == 0
    assert summary(tmp_path / "out")["reused"] == 4
    before = rows(tmp_path / "out")
    assert evalcore(*common).returncode == 0
    assert rows(tmp_path / "out") == before
    assert evalcore(*common, "--evaluation", "fast").returncode == 0
    assert summary(tmp_path / "out")["reused"] == 0


def test_tools_go_as_text_and_the_run_says_so(evalcore, write_suite, tmp_path):
    suite = write_suite("tools.jsonl", [
        {"id": "t", "messages": [{"role": "user", "content": "hi"}], "target": "x", "params": {"max_tokens": 4},
         "tools": [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]}])
    done = evalcore("run", suite, "--model", MODEL, *SLOTS, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "takes no tools" in done.stderr
    assert summary(tmp_path / "out")["tools"] == "text"


@pytest.mark.parametrize("arguments, words", [
    (["--backend", "embedded"], "embedded needs --model"),
    (["--model", "missing.gguf"], "missing.gguf"),
    (["--model", MODEL, "--port", "99"], "--port"),
    (["--backend", "llama-server", "--model", MODEL, "--evaluation", "fast"], "--evaluation"),
])
def test_what_is_wrong_is_named(evalcore, suite, arguments, words):
    done = evalcore("run", suite, *arguments, "--out", "out")
    assert done.returncode in (2, 3)
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_is_compared_once_and_what_was_found_holds_for_later_runs(evalcore, suite, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert evalcore("run", suite, "--model", MODEL, *SLOTS, "--slots", 2, "--out", "first").returncode == 0
    kept = list((tmp_path / "cache/evalcore/parity").iterdir())
    assert len(kept) == 1
    found = json.loads(kept[0].read_text())
    assert (found["width"], found["restores"], found["why"]) == (2, True, "")
    kept[0].write_text(json.dumps({**found, "width": 1, "why": "as this test has it"}))
    later = evalcore("run", suite, "--model", MODEL, *SLOTS, "--slots", 2, "--out", "later")
    assert later.returncode == 0
    assert "rows are computed one by one" in later.stderr and "as this test has it" in later.stderr
    assert texts(tmp_path / "first") == texts(tmp_path / "later")
