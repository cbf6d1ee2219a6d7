"""What the machine refuses its process (memory, threads, a clock that goes right, files) changes no score and no store."""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess

import pytest

from conftest import rows, summary
from store_copy import committed_replies

ITEMS = 30


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    made = tmp_path_factory.mktemp("shim") / "process_faults.so"
    source = pathlib.Path(__file__).parent / "process_faults.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl", "-pthread"], check=True)
    return made


@pytest.fixture
def start(program, shim, write_suite, tmp_path):
    suite = write_suite("s.jsonl", [{"id": f"q{n}", "prompt": f"number {n}", "target": "Hello!"} for n in range(ITEMS)])
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"match": "number 7", "text": "no"}) + "\n" + json.dumps({"text": "Hello!"}) + "\n")

    def run(out, **faults):
        environment = os.environ | {"LD_PRELOAD": str(shim)} | {name: str(value) for name, value in faults.items()}
        return subprocess.run(
            [program, "run", suite, "-b", "scripted", "--script", script, "--out", out, "--temperature", "0", "-q"],
            text=True, capture_output=True, timeout=20, env=environment)  # fmt: skip

    return run


def started_ms(folder):
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        return [ms for (ms,) in database.execute("SELECT started_unix_ms FROM runs ORDER BY started_unix_ms")]


@pytest.mark.parametrize("fault, first_ms", [
    ({"WALL_CLOCK": 0, "WALL_STEP": 1}, range(0, 100_000)),
    ({"WALL_CLOCK": 4_102_444_800}, range(4_102_444_800_000, 4_102_444_801_000)),
    ({"WALL_CLOCK": 1_786_190_400, "WALL_STEP": -3600}, range(1_700_000_000_000, 1_786_190_400_000)),
], ids=["1970, a second a look", "2100, standing still", "an hour back at each look"])  # fmt: skip
def test_a_wall_clock_that_is_wrong_changes_no_score_and_no_timeout(start, tmp_path, fault, first_ms):
    assert start(tmp_path / "right").returncode == 0
    done = start(tmp_path / "wrong", **fault)
    assert done.returncode == 0, done.stderr
    assert started_ms(tmp_path / "wrong")[0] in first_ms, "the clock was not wrong, which proves nothing"
    assert rows(tmp_path / "wrong") == rows(tmp_path / "right")
    assert 0 <= summary(tmp_path / "wrong")["wall_s"] < 10


def test_two_starts_in_the_same_instant_are_two_runs(start, tmp_path):
    for _ in range(2):
        assert start(tmp_path / "out", WALL_CLOCK=1_786_190_400).returncode == 0
    first, second = started_ms(tmp_path / "out")
    assert second - first < 1000
    with contextlib.closing(sqlite3.connect(tmp_path / "out/run.db")) as database:
        assert database.execute("SELECT count(DISTINCT run_id) FROM runs").fetchone() == (2,)
    assert summary(tmp_path / "out")["reused"] == ITEMS


@pytest.mark.parametrize("always", [0, 1])
def test_an_allocation_that_fails_hurts_no_store(start, tmp_path, always):
    """A run ends with a word, or it is whole; the next one goes on from what was committed."""
    failed = 0
    kept = {}
    out = tmp_path / "out"
    for n in range(1, 30):
        done = start(out, FAIL_ALLOCATION=int(1.45**n) + n, FAIL_ALWAYS=always)
        failed += done.returncode != 0
        assert done.returncode in (0, 2, 3, 4, 71) or done.returncode < 0, done.stderr
        assert done.stderr or done.returncode <= 0
        if (out / "run.db").exists() and (out / "run.db").stat().st_size > 0:
            now = committed_replies(out / "run.db", tmp_path / "copy")
            assert kept.items() <= now.items()
            kept = now
    assert failed > 10
    assert start(out).returncode == 0
    assert summary(out)["score"] == pytest.approx((ITEMS - 1) / ITEMS)


@pytest.mark.parametrize("n", [1, 2])
def test_a_thread_that_cannot_be_made_is_told(start, tmp_path, n):
    done = start(tmp_path / "out", FAIL_THREAD=n)
    assert done.returncode == 71
    assert done.stderr == "evalcore: the system refuses another thread or file (Resource temporarily unavailable)\n"


def test_the_environment_of_a_host_changes_no_byte(start, tmp_path):
    assert start(tmp_path / "plain").returncode == 0
    before = os.umask(0)
    try:
        assert start(tmp_path / "other", LC_ALL="de_DE.UTF-8", LANG="C", TZ="Asia/Kathmandu").returncode == 0
    finally:
        os.umask(before)
    assert rows(tmp_path / "other") == rows(tmp_path / "plain")
    assert (tmp_path / "other/run.db").stat().st_mode & 0o777 == 0o600
