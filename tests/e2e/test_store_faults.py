"""A store on a disk that fills, cannot be written, is in use or is damaged: told by name, with the mend, and nothing lost."""

import contextlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from conftest import REPOSITORY, stored_items, summary
from store_copy import committed_replies

ITEMS = 200
ANSWER = "a" * 8_000
MEGABYTE = 1_000_000


@pytest.fixture
def suite(write_suite):
    return write_suite("s.jsonl", [{"id": f"q{n:03}", "prompt": f"number {n}", "target": ANSWER} for n in range(ITEMS)])


@pytest.fixture
def command(program, suite, tmp_path):
    def make(store, *options, delay_ms=0, out=tmp_path / "out"):
        script = tmp_path / f"script{delay_ms}.jsonl"
        script.write_text(json.dumps({"text": ANSWER, "delay_ms": delay_ms}) + "\n")
        return [program, "run", suite, "-b", "scripted", "--script", script, "--out", out, "--store", store,
                "--temperature", "0", "-c", "4", "-q", *options]  # fmt: skip

    return make


def run(command, **options):
    return subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=120, **options)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte, and how to mount it anew."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options):
        return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode

    if mount("size=1m") != 0:
        pytest.skip("this machine lets nobody mount; the limit on a file's size stands in below")
    yield folder, lambda options: mount("remount," + options)
    subprocess.run(["umount", folder], check=True)


def sound(store, scratch):
    """The items of a store whose pages are whole."""
    replies = committed_replies(store, scratch)
    with contextlib.closing(sqlite3.connect(scratch / store.name)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert all(reply["text"] == ANSWER for reply in replies.values())
    return set(replies)


def check_goes_on(done, again, kept, out):
    assert done.returncode == 4, done.stderr
    assert 10 < len(kept) < ITEMS
    assert f"stopped with {len(kept)} of {ITEMS} items done" in done.stderr
    assert again.returncode == 0, again.stderr
    assert again.stderr.startswith(f"evalcore: {len(kept)} of {ITEMS} items are answered in the store and reused; "
                                   f"{ITEMS - len(kept)} are sent")  # fmt: skip
    assert summary(out)["sent"] == ITEMS - len(kept)
    assert summary(out)["score"] == 1


def test_a_disk_that_fills_ends_the_run_which_goes_on_when_there_is_space(command, small_disk, tmp_path):
    disk, remount = small_disk
    store, out = disk / "run.db", tmp_path / "out"
    done = run(command(store, delay_ms=5))
    kept = sound(store, tmp_path / "copy")
    assert f"store {store}: the disk is full; free space and run again, what was committed is kept" in done.stderr
    told = summary(out)
    assert told["answered"] == len(kept)
    assert told["items"] == told["answered"] + told["not_run"]
    # The answer that found the disk full, and those that came while it was being told.
    assert 1 <= told["not_saved"] <= told["not_run"]
    assert f"answers that had come and are not saved: {told['not_saved']} (they are asked again)" in done.stdout
    assert not (out / "rows.jsonl").exists(), "rows cannot say that items were not run"
    assert remount("size=20m") == 0
    check_goes_on(done, run(command(store, delay_ms=5)), kept, out)
    assert sound(store, tmp_path / "copy") == {f"q{n:03}" for n in range(ITEMS)}


def test_a_disk_that_fills_under_everything_that_a_run_writes_is_still_told(command, small_disk, tmp_path):
    disk, _ = small_disk
    done = run(command(disk / "out" / "run.db", out=disk / "out"))
    assert done.returncode == 4, done.stderr
    assert "the disk is full" in done.stderr
    assert stored_items(disk / "out" / "run.db", tmp_path / "copy")


def test_a_run_killed_while_it_goes_on_from_a_full_disk_loses_and_repeats_nothing(command, small_disk, tmp_path):
    disk, remount = small_disk
    store, delayed = disk / "run.db", command(disk / "run.db", delay_ms=5)
    assert run(delayed).returncode == 4
    assert remount("size=20m") == 0
    kept, progressed = sound(store, tmp_path / "copy"), 0
    shim = tmp_path / "at_write.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, REPOSITORY / "bench/kill/at_write.c", "-ldl"], check=True)
    for write in (1, 10, 40, 80, 120):
        killed = run(delayed, env=os.environ | {"LD_PRELOAD": str(shim), "KILL_AT_WRITE": str(write)})
        assert killed.returncode == -signal.SIGKILL
        now = sound(store, tmp_path / "copy")
        assert kept <= now
        progressed += kept < now
        kept = now
    assert progressed, "the kills came too early to prove anything"
    last = run(delayed)
    assert last.returncode == 0, last.stderr
    assert summary(tmp_path / "out")["sent"] == ITEMS - len(kept)
    assert summary(tmp_path / "out")["score"] == 1


def test_a_file_that_may_grow_no_more_ends_the_run_and_not_the_process(command, tmp_path):
    store, out = tmp_path / "run.db", tmp_path / "out"

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))

    done = run(command(store), preexec_fn=limit)
    kept = sound(store, tmp_path / "copy")
    assert (f"store {store} cannot be read or written (disk I/O error); "
            "what was committed is kept, mend the disk and run again") in done.stderr  # fmt: skip
    check_goes_on(done, run(command(store)), kept, out)


@pytest.mark.parametrize("there_already", [False, True])
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_sent(command, small_disk, tmp_path, there_already):
    disk, remount = small_disk
    store = disk / "run.db"
    if there_already:
        assert run(command(store, "--limit", "3")).returncode == 0
    assert remount("ro") == 0
    done = run(command(store))
    assert done.returncode == 2
    assert done.stderr == (
        f"evalcore: store {store} cannot be written; check the rights on it and on its folder\n" if there_already else
        f"evalcore: cannot create store {store}: Read-only file system; mend that, or give another --store\n")  # fmt: skip


def test_a_disk_without_room_for_another_file_is_told(command, small_disk, tmp_path):
    disk, remount = small_disk
    assert remount("nr_inodes=2") == 0
    (disk / "last").touch()
    done = run(command(disk / "run.db"))
    assert done.returncode == 2
    assert f"cannot create store {disk / 'run.db'}: No space left on device" in done.stderr


@pytest.mark.parametrize("length", [247, 248, 255, 256])
def test_a_name_that_is_too_long_is_told(command, tmp_path, length):
    store = tmp_path / ("s" * length)
    done = run(command(store, "--limit", "3"))
    if length <= 247:  # SQLite puts "-journal" behind it.
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 2
        assert done.stderr == f"evalcore: the name of store {store} is longer than 247 bytes; give a shorter one\n"


def test_a_second_run_on_a_store_is_refused_within_a_second_and_the_first_goes_on(command, tmp_path):
    store, out = tmp_path / "run.db", tmp_path / "out"
    first = subprocess.Popen(list(map(str, command(store, delay_ms=30))), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             text=True)  # fmt: skip
    while not store.exists() or not os.path.getsize(store):
        time.sleep(0.01)
    before = time.monotonic()
    second = run(command(store, delay_ms=30))
    assert time.monotonic() - before < 1
    assert first.poll() is None
    assert second.returncode == 2
    assert second.stderr == f"evalcore: store {store} is in use by another process; wait for it or give another --store\n"
    assert first.wait(timeout=60) == 0
    assert summary(out)["sent"] == ITEMS


def test_a_damaged_copy_is_told_before_anything_is_sent_and_left_as_it_is(command, tmp_path):
    store = tmp_path / "run.db"
    assert run(command(store, "--limit", "20")).returncode == 0
    whole = store.read_bytes()
    at = whole.index(ANSWER[:2000].encode()) // 4096 * 4096
    damages = {
        "changed.db": whole[:at + 2000] + b"b" + whole[at + 2001:],
        "zeroed.db": whole[:at] + bytes(4096) + whole[at + 4096:],
        "cut.db": whole[:len(whole) // 2],
    }  # fmt: skip
    for name, damaged in damages.items():
        copy = tmp_path / name
        copy.write_bytes(damaged)
        done = run(command(copy))
        assert done.returncode == 2, name
        assert f"store {copy} is damaged" in done.stderr
        assert "restore a copy or give another --store" in done.stderr
    shutil.rmtree(tmp_path / "out")
    assert run(command(store)).returncode == 0
