"""`--noise-floor K`: what is asked twice, what is counted, and what a kill leaves of it."""

import collections
import contextlib
import json
import math
import random
import sqlite3
import subprocess
import time

from conftest import MODEL, question, summary
from store_copy import copied_store, has_tables

ITEMS = 24


def answers(database):
    """(reply, score) by item and epoch."""
    return {(item, epoch): (json.loads(body), value) for item, epoch, body, value in database.execute(
        "SELECT item_id, epoch, body, value FROM items JOIN replies USING (item_key) JOIN scores USING (reply_id)")}  # fmt: skip


def counted(folder):
    """The figures as the store's rows have them."""
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        kept = answers(database)
    pairs = [(kept[item, 0], kept[item, 1]) for item, epoch in kept if epoch == 1]
    changed = [one for one in pairs if one[0][0]["text"] != one[1][0]["text"]]
    by_cache = [one for one in pairs if one[0][0]["usage"]["cached_tokens"] != one[1][0]["usage"]["cached_tokens"]]
    return {
        "items": len(pairs),
        "pairs": len(pairs),
        "changed": len(changed),
        "flips": sum(first[1] != second[1] for first, second in pairs),
        "cache_differed": len(by_cache),
        "changed_where_cache_differed": sum(one in by_cache for one in changed),
    }


def numbered(number):
    """Questions of the tests' own model, whose answers are long enough to part."""
    system = "Answer at length. " * (1 + number % 3)
    return question(number, system) | {"target": "x", "params": {"temperature": 0, "max_tokens": 24}}


def test_the_figures_of_the_real_server_at_six_in_flight_are_those_of_its_stored_answers(
    evalcore, llama_server, write_suite, tmp_path
):
    suite = write_suite("s.jsonl", [numbered(number) for number in range(ITEMS)])
    real = ["-b", "llama-server", "--server-program", llama_server, "--model", MODEL.with_name("canned.gguf"), "--slots", "6",
            "--context-per-slot", "1024", "-c", "6"]  # fmt: skip
    done = evalcore("run", suite, *real, "--noise-floor", 16, "--out", "out")
    assert done.returncode == 0, done.stderr
    told = summary(tmp_path / "out")
    floor = told["noise_floor"]
    assert {key: floor[key] for key in counted(tmp_path / "out")} == counted(tmp_path / "out")
    assert (floor["pairs"], told["items"], told["answered"], told["sent"]) == (16, ITEMS, ITEMS, ITEMS + 16)
    assert floor["difference_stderr"] == math.sqrt(floor["flips"] / 16 / ITEMS)
    assert "noise floor: 16 of 16 items answered twice" in done.stdout
    with contextlib.closing(sqlite3.connect(tmp_path / "out/run.db")) as database:
        order = [epoch for (epoch,) in database.execute(
            "SELECT epoch FROM attempts JOIN items USING (item_key) ORDER BY attempt_id")]  # fmt: skip
    assert 1 in order[: len(order) // 2], "second requests go out among the others"
    assert 0 in order[len(order) // 2 :]


def test_a_killed_run_keeps_its_second_answers_and_asks_none_twice(program, proxy_to, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [question(number) for number in range(ITEMS)])
    out = tmp_path / "out"
    randomly = random.Random(11)
    kills_with_progress = 0
    for attempt in range(40):
        before = collections.Counter()
        if (out / "run.db").exists():
            with copied_store(out / "run.db", tmp_path / f"copy{attempt}") as database:
                before.update(item for item, _ in (answers(database) if has_tables(database) else ()))
        kills_with_progress += any(count == 2 for count in before.values())
        proxy = proxy_to(delay_s=0.02)
        process = subprocess.Popen(
            [program, "run", suite, "-b", "openai-url", "--dialect", "llama-server", "--base-url", proxy.url, "--out", out,
             "-c", "4", "-q", "--noise-floor", str(ITEMS)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        until = randomly.randint(2, 14)
        while len(proxy.chats) < until and process.poll() is None:
            time.sleep(0.001)
        time.sleep(randomly.uniform(0, 0.03))
        process.kill()
        finished = process.wait() == 0
        asked = collections.Counter(f"q{int(text.split()[1]):03}" for text in proxy.questions())
        assert all(asked[item] + before[item] <= 2 for item in asked), (
            "an answer that was committed was asked for again"
        )
        if finished:
            break
    assert finished
    assert kills_with_progress >= 2, "the kills came too late or too early to prove anything"
    told = summary(out)
    assert (told["answered"], told["noise_floor"]["pairs"]) == (ITEMS, ITEMS)
    assert {key: told["noise_floor"][key] for key in counted(out)} == counted(out)


def test_a_number_of_items_that_is_none_is_a_usage_error(evalcore, write_suite):
    suite = write_suite("s.jsonl", [question(1)])
    for number in ("0", "-3", "x", "1.5"):
        done = evalcore("run", suite, "-b", "scripted", f"--noise-floor={number}")
        assert done.returncode == 2
        assert "--noise-floor" in done.stderr
