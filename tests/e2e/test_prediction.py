"""What the plan predicts of each request is what the server reports of it, slot by slot."""

import contextlib
import json
import sqlite3
import subprocess
import sys

import pytest

from conftest import MODEL, REPOSITORY, free_port, question, required, serving, summary

OFF_BY_AT_MOST = 2  # Tokens, of one request.


def by_item(folder):
    """(predicted, reported, slot) of each item."""
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        return {
            item: (predicted, json.loads(body)["usage"]["cached_tokens"], slot)
            for item, predicted, body, slot in database.execute(
                "SELECT item_id, predicted_cached_tokens, body, slot"
                " FROM items JOIN replies USING (item_key) JOIN attempts USING (attempt_id)"
            )
        }


def check(folder, items, slots):
    """Every item was pinned, and predicted as it was reported; all slots were used."""
    found = by_item(folder)
    assert len(found) == items
    off = {
        item: figures
        for item, figures in found.items()
        if figures[0] is None or abs(figures[0] - figures[1]) > OFF_BY_AT_MOST
    }
    assert off == {}
    assert {slot for _, _, slot in found.values()} == set(range(slots))
    return found


def one_group():
    shared = "You are terse. " + "The rules are long but the same for everyone. " * 8
    return [question(n, shared) for n in range(16)]


def several_groups():
    """Groups of many sizes, one of them in two levels, twice the same prompt, and some that share nothing."""
    items = []
    for family, count in enumerate([9, 5, 2, 1]):
        shared = f"Family {family}. " + f"Rule {family} holds, whatever was said before. " * (5 + family)
        for n in range(count):
            items.append(question(100 * family + n, shared + ("But not on Sundays. " * 6 if n % 2 else "")))
    for n in range(4):
        items.append(question(900 + n, f"{n} " * 40))
    items.append({**question(0, items[0]["messages"][0]["content"]), "id": "again"})
    # By turns, so that the suite's order helps nobody.
    return items[::3] + items[1::3] + items[2::3]


SUITES = {"one group": one_group, "several groups": several_groups}


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("slots", [1, 3, 4])
def test_of_slots_that_share(evalcore, canned, write_suite, tmp_path, suite, slots):
    items = SUITES[suite]()
    done = evalcore("run", write_suite("s.jsonl", items), *canned, "--slots", slots, "--out", "out")
    assert done.returncode == 0, done.stderr
    found = check(tmp_path / "out", len(items), slots)
    assert sum(predicted for predicted, _, _ in found.values()) > 2000
    assert summary(tmp_path / "out")["prefix"]["predicted_cached_tokens"] == sum(
        predicted for predicted, _, _ in found.values()
    )


def test_of_slots_apart(evalcore, canned, write_suite, tmp_path):
    items = several_groups()
    done = evalcore("run", write_suite("s.jsonl", items), *canned, "--slots", 4, "--no-share-prefix", "--out", "out")
    assert done.returncode == 0, done.stderr
    found = check(tmp_path / "out", len(items), 4)
    assert sum(predicted for predicted, _, _ in found.values()) > 1000


def test_of_the_suites_order_nothing_is_predicted(evalcore, canned, write_suite, tmp_path):
    """The server then chooses the slot, and brings back prompts that it had put away."""
    items = several_groups()
    done = evalcore("run", write_suite("s.jsonl", items), *canned, "--slots", 1, "--order", "suite", "--out", "out")
    assert done.returncode == 0, done.stderr
    found = by_item(tmp_path / "out").values()
    assert {(predicted, slot) for predicted, _, slot in found} == {(None, None)}
    assert sum(reported for _, reported, _ in found) > 0


def test_of_a_fresh_server_at_an_address(evalcore, llama_server, write_suite, tmp_path):
    port = free_port()
    command = [
        llama_server,
        "--model",
        MODEL,
        "--host",
        "127.0.0.1",
        "--port",
        port,
        "--parallel",
        3,
        "--ctx-size",
        3072,
        "--threads",
        1,
    ]
    items = several_groups()
    with serving(port, command, tmp_path / "log"):
        done = evalcore(
            "run",
            write_suite("s.jsonl", items),
            "--backend",
            "openai-url",
            "--dialect",
            "llama-server",
            "--base-url",
            f"http://127.0.0.1:{port}",
            "--out",
            "out",
        )
        assert done.returncode == 0, done.stderr
        check(tmp_path / "out", len(items), 3)


def test_of_the_demo_with_a_model_of_words(evalcore, llama_server, tmp_path):
    """The demo's suite with short answers: real templates with tools, a real tokenizer, slots that share."""
    suite = tmp_path / "demo.jsonl"
    subprocess.run(
        [sys.executable, REPOSITORY / "scripts/make_demo_suite.py", required("EVALCORE_BFCL"), suite],
        check=True,
        capture_output=True,
    )
    items = [json.loads(line) for line in suite.read_text().splitlines()]
    for item in items:
        item["params"]["max_tokens"] = 4
    suite.write_text("".join(json.dumps(item) + "\n" for item in items))
    done = evalcore(
        "run",
        suite,
        "--backend",
        "llama-server",
        "--server-program",
        llama_server,
        "--model",
        required("EVALCORE_MODEL"),
        "--threads",
        1,
        "--context-per-slot",
        2048,
        "--slots",
        4,
        "--out",
        "out",
    )
    assert done.returncode == 0, done.stderr
    found = check(tmp_path / "out", len(items), 4)
    assert sum(predicted for predicted, _, _ in found.values()) > 10_000
