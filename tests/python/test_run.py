"""Runs and plans of items that Python has: known answers of a script, and the command on the same files."""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest
from conftest import MODEL, REPOSITORY

import evalcore
from evalcore import errors

SCRIPT = [
    {"match": "2 + 2", "text": "It is 4."},
    {"match": "3 + 3", "text": "7"},
    {"match": "France", "text": "Paris"},
    {"match": "refuse", "error": {"code": "invalid_request", "message": "no"}},
]
ITEMS = [
    {"id": "a", "prompt": "2 + 2", "target": 4, "scorer": "numeric", "params": {"temperature": 0}},
    {"id": "b", "prompt": "3 + 3", "target": 6, "scorer": "numeric", "params": {"temperature": 0}},
    {"id": "c", "prompt": "Capital of France?", "target": ["Paris", "paris"], "params": {"temperature": 0}},
    {"id": "d", "prompt": "refuse", "target": "x", "params": {"temperature": 0}},
]


def counts(result):
    return {name: result.summary[name] for name in ("items", "answered", "errors", "sent", "reused", "score")}


def test_a_list_is_run_and_scored(scripted, tmp_path):
    result = evalcore.run(ITEMS, scripted(*SCRIPT), out=tmp_path / "out", task="sums")
    assert counts(result) == {"items": 4, "answered": 3, "errors": 1, "sent": 4, "reused": 0, "score": 0.5}
    assert result.score == 0.5 and result.summary["task"] == "sums"
    scores = {row["metric"]: (row["score"], row["n_examples"]) for row in result.rows}
    assert scores == {"numeric_match": (0.5, 2), "exact_match": (0.5, 2)}
    assert result.out == tmp_path / "out"
    with contextlib.closing(sqlite3.connect(result.out / "run.db")) as store:
        query = "SELECT item_id, json_extract(body, '$.text') FROM items JOIN replies USING (item_key)"
        texts = dict(store.execute(query))
    assert texts == {"a": "It is 4.", "b": "7", "c": "Paris"}


def test_the_same_call_again_sends_only_what_is_missing(scripted, tmp_path):
    evalcore.run(iter(ITEMS), scripted(*SCRIPT), out=tmp_path / "out")
    again = evalcore.run(ITEMS, scripted(*SCRIPT), out=tmp_path / "out")
    assert (again.summary["reused"], again.summary["sent"]) == (3, 1)
    assert any("3" in note for note in again.notes)


def test_the_command_goes_on_from_a_run_of_python_and_the_other_way_round(tmp_path):
    items = [{"id": f"i{number}", "prompt": "hi", "target": "Hello!"} for number in range(4)]
    params = {"temperature": 0, "max_tokens": 8}
    command = [os.environ["EVALCORE_PROGRAM"], "run", "-q", "--model", MODEL, "--context-per-slot", "1024",
               "--temperature", "0", "--max-tokens", "8"]  # fmt: skip

    def by_command(folder):
        suite = tmp_path / "first/items.jsonl"
        assert subprocess.run([*command, str(suite), "--out", str(folder)], timeout=120).returncode == 0
        return json.loads((folder / "summary.json").read_text())

    with evalcore.Backend("embedded", model=MODEL, context_per_slot=1024) as backend:
        first = evalcore.run(items, backend, out=tmp_path / "first", params=params)
        assert (first.summary["items"], first.summary["sent"], first.score) == (4, 4, 1)
        told = by_command(tmp_path / "first")
        assert (told["reused"], told["sent"]) == (4, 0)
        same = ("score", "suite_hash", "backend", "metrics", "task")
        assert {key: told[key] for key in same} == {key: first.summary[key] for key in same}

        by_command(tmp_path / "second")
        second = evalcore.run(tmp_path / "first/items.jsonl", backend, out=tmp_path / "second", params=params)
        assert (second.summary["reused"], second.summary["sent"]) == (4, 0)


def test_options_reach_the_run(scripted, tmp_path):
    result = evalcore.run(
        ITEMS, scripted(*SCRIPT), out=tmp_path / "out", limit=2, order="suite", model_name="m", model_step=7,
        baseline=True, pool={"concurrency": 3},
    )  # fmt: skip
    assert (result.summary["items"], result.summary["order"], result.summary["concurrency"]) == (2, "suite", 3)
    assert {(row["model_name"], row["model_step"], row["baseline"]) for row in result.rows} == {("m", 7, True)}
    part = evalcore.run(ITEMS, scripted(*SCRIPT), out=tmp_path / "part", shard=(1, 4))
    assert part.summary["shard"] == "1/4"


def test_events_are_told_as_they_come(scripted, tmp_path):
    slow = [{"text": "x", "delay_ms": 20}]
    with evalcore.start(ITEMS, scripted(*slow), out=tmp_path / "out", pool={"concurrency": 1}) as run:
        told = list(run)
        result = run.result()
    progress = [one.figures for one in told if isinstance(one, evalcore.Progress)]
    assert progress[-1]["done"] == progress[-1]["items"] == 4
    assert [one.text for one in told if isinstance(one, evalcore.Note)] == result.notes


def test_a_run_is_awaited_beside_other_work(scripted, tmp_path):
    ticks = []

    async def tick():
        while True:
            ticks.append(None)
            await asyncio.sleep(0.001)

    async def main():
        ticking = asyncio.ensure_future(tick())
        result = await evalcore.run_async(ITEMS, scripted({"text": "x", "delay_ms": 200}), out=tmp_path / "out")
        ticking.cancel()
        return result

    assert asyncio.run(main()).summary["answered"] == 4
    assert len(ticks) > 20


def test_a_cancelled_task_keeps_what_is_done(scripted, tmp_path):
    script = [*SCRIPT[:3], {"match": "refuse", "text": "late", "delay_ms": 60_000}]

    async def watch(run, three):
        async for told in run:
            if isinstance(told, evalcore.Progress) and told.figures["done"] == 3:
                three.set()

    async def main():
        run = evalcore.start(ITEMS, scripted(*script), out=tmp_path / "out")
        async with run:
            three = asyncio.Event()
            task = asyncio.ensure_future(watch(run, three))
            await asyncio.wait_for(three.wait(), 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await run.wait()

    result = asyncio.run(main())
    assert (result.summary["interrupted"], result.summary["answered"], result.summary["not_run"]) == (True, 3, 1)
    assert result.rows == []


def test_ctrl_c_keeps_what_is_done(write_lines, tmp_path):
    script = write_lines("s.jsonl", *SCRIPT[:3], {"match": "refuse", "text": "late", "delay_ms": 60_000})
    program = f"""
import evalcore
backend = evalcore.Backend("scripted", script={str(script)!r})
with evalcore.start({ITEMS!r}, backend, out={str(tmp_path / "out")!r}) as run:
    for told in run:
        if isinstance(told, evalcore.Progress) and told.figures["done"] == 3:
            print("three", flush=True)
"""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
    process = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == "three\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in err
    with contextlib.closing(sqlite3.connect(tmp_path / "out/run.db")) as store:
        assert store.execute("SELECT count(*) FROM replies").fetchone() == (3,)


def test_what_is_wrong_with_a_suite_is_told_with_its_line(scripted, tmp_path):
    with pytest.raises(errors.BadSuiteError, match="items.jsonl:2"):
        evalcore.run([ITEMS[0], {"id": "x", "promt": "y"}], scripted(*SCRIPT), out=tmp_path / "out")
    with pytest.raises(errors.BadSuiteError):
        evalcore.run([ITEMS[0], ITEMS[0]], scripted(*SCRIPT), out=tmp_path / "out")
    with pytest.raises(TypeError, match="item 1"):
        evalcore.run([ITEMS[0], "text"], scripted(*SCRIPT), out=tmp_path / "out")
    with pytest.raises(errors.NotFoundError):
        evalcore.run(tmp_path / "missing.jsonl", scripted(*SCRIPT), out=tmp_path / "out")


def test_a_second_run_of_the_same_store_is_refused(scripted, tmp_path):
    backend = scripted({"text": "x", "delay_ms": 60_000})
    with evalcore.start(ITEMS, backend, out=tmp_path / "out") as first:
        for told in first:
            if isinstance(told, evalcore.Progress) and told.figures["running"]:
                break
        with pytest.raises(errors.BusyError):
            evalcore.run(ITEMS, backend, out=tmp_path / "out")


def test_runs_side_by_side_on_threads(scripted, tmp_path):
    backend = scripted(*SCRIPT)
    results = []

    def one(number):
        results.append(evalcore.run(ITEMS, backend, out=tmp_path / str(number)))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [one.summary["answered"] for one in results] == [3] * 4


def test_a_plan_is_that_of_the_command(write_lines):
    shared = [{"role": "system", "content": "Answer in one word, and nothing else. " * 20}]
    items = [{"id": n, "messages": [*shared, {"role": "user", "content": f"Say {n}"}], "target": "x"} for n in range(6)]
    told = evalcore.plan(items)
    command = [os.environ["EVALCORE_PROGRAM"], "plan", "--json", str(write_lines("p.jsonl", *items))]
    by_command = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)
    assert {**told, "suite": None} == {**by_command, "suite": None}
    # Five of the six find all of their prompt but its last digit.
    assert (told["unit"], told["items"], len(told["groups"])) == ("bytes", 6, 1)
    assert told["predicted_cached_bytes"] == 5 * (told["longest_prompt_bytes"] - 1)
    assert evalcore.plan(items, limit=2)["items"] == 2
    with pytest.raises(errors.BadSuiteError):
        evalcore.plan([{"id": 1}])


def test_a_plan_asks_a_backend_for_its_tokens():
    with evalcore.Backend("embedded", model=MODEL, context_per_slot=1024) as backend:
        told = evalcore.plan(ITEMS, backend)
    assert (told["unit"], told["items"]) == ("tokens", 4)
