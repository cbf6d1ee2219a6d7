"""A suite run in parts and merged is one run."""

import contextlib
import json
import re
import sqlite3

import pytest

from conftest import hi, question, stored_replies, summary

SYSTEMS = ["", *(f"You are clerk {name}. " + "The rules are long but the same for everyone. " * 6 for name in "ABC")]


def items(count):
    """Three families that share a prefix, and some that share nothing."""
    return [{**question(n, SYSTEMS[n % 4] or f"{n}, alone."), "category": f"c{n % 2}"} for n in range(count)]


def timeless_rows(folder):
    """The bytes of rows.jsonl but for its times and the id of the run."""
    text = (folder / "rows.jsonl").read_text()
    return re.sub(r'"(run_id|timestamp)":"[^"]*"|"(wall_seconds)":[0-9.eE+-]+', r'"\1\2":0', text)


def answers(folder):
    """Replies but for their times."""
    return {item: {**reply, "timing": None} for item, reply in stored_replies(folder).items()}


def scores(folder):
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        return database.execute("SELECT item_id, value, extracted, reason, scores.checksum FROM items JOIN replies"
                                " USING (item_key) JOIN scores USING (reply_id) ORDER BY item_id").fetchall()  # fmt: skip


def counts(folder):
    figures = summary(folder)
    names = ["items", "answered", "errors", "errors_by_class", "unscored", "not_run", "sent", "retried", "score",
             "score_bounds", "metrics", "completion_tokens", "prompt_tokens", "cut_by_length", "empty_answers",
             "unknown_finish", "dropped", "possibly_paid_twice", "suite_hash", "task", "tools"]  # fmt: skip
    return {name: figures[name] for name in names}


def run_shards(evalcore, suite, count, *arguments):
    for index in range(1, count + 1):
        done = evalcore("run", suite, *arguments, "--shard", f"{index}/{count}", "--out", f"part{index}")
        assert done.returncode in (0, 4), done.stderr


def script_of(tmp_path, *lines):
    (tmp_path / "script").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["-b", "scripted", "--script", "script", "--retries", "0"]


def test_four_shards_of_a_scripted_backend_merge_into_what_one_run_gives(evalcore, write_suite, tmp_path):
    usage = {"prompt_tokens": 50, "cached_tokens": 40, "completion_tokens": 3}
    how = script_of(
        tmp_path,
        {"match": "number 7", "text": "x", "usage": usage},
        {"match": "number 9", "error": {"code": "backend_fault", "message": "broke"}},
        {"match": "number 12", "text": "", "finish": "length", "usage": usage},
        {"text": "Hello!", "usage": usage},
    )
    suite = write_suite("s.jsonl", items(40))
    whole = evalcore("run", suite, *how, "--out", "whole")
    assert whole.returncode == 4, "number 9 errors"
    run_shards(evalcore, suite, 4, *how)
    parts = [summary(tmp_path / f"part{index}") for index in range(1, 5)]
    assert [part["shard"] for part in parts] == ["1/4", "2/4", "3/4", "4/4"]
    assert sum(part["items"] for part in parts) == 40
    assert all(part["items"] >= 5 for part in parts)
    done = evalcore("merge", "merged", *(f"part{index}" for index in (2, 1, 4, 3)))
    assert done.returncode == 4, done.stderr
    assert done.stderr == ""
    assert timeless_rows(tmp_path / "merged") == timeless_rows(tmp_path / "whole")
    assert answers(tmp_path / "merged") == answers(tmp_path / "whole")
    assert [row[:4] for row in scores(tmp_path / "merged")] == [row[:4] for row in scores(tmp_path / "whole")]
    assert counts(tmp_path / "merged") == counts(tmp_path / "whole")


def test_what_another_store_answered_was_not_sent_by_a_merge_either(evalcore, write_suite, tmp_path):
    how = script_of(tmp_path, {"text": "Hello!"})
    suite = write_suite("s.jsonl", items(8))
    assert evalcore("run", suite, *how, "--out", "first").returncode == 0
    run_shards(evalcore, suite, 2, *how, "--cache", "first/run.db", "--cache-sampled")
    assert [summary(tmp_path / f"part{index}")["sent"] for index in (1, 2)] == [0, 0]
    done = evalcore("merge", "merged", "part1", "part2")
    assert done.returncode == 0, done.stderr
    assert summary(tmp_path / "merged")["sent"] == 0


def test_four_shards_on_the_real_server_merge_into_what_one_run_gives(evalcore, canned, write_suite, tmp_path):
    suite = write_suite("s.jsonl", items(24))
    assert evalcore("run", suite, *canned, "--out", "whole").returncode == 0
    run_shards(evalcore, suite, 4, *canned)
    done = evalcore("merge", "merged", *(f"part{index}/run.db" for index in range(1, 5)), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == summary(tmp_path / "merged")
    assert timeless_rows(tmp_path / "merged") == timeless_rows(tmp_path / "whole")
    texts = [{item: reply["text"] for item, reply in answers(tmp_path / name).items()} for name in ("merged", "whole")]
    assert texts[0] == texts[1]
    assert counts(tmp_path / "merged") == counts(tmp_path / "whole")
    assert summary(tmp_path / "merged")["backend"] == summary(tmp_path / "whole")["backend"]
    again = evalcore("run", suite, *canned, "--out", "merged")
    assert (again.returncode, summary(tmp_path / "merged")["sent"]) == (0, 0), "one run would reuse it all"


def columns_of(path, table, without):
    with contextlib.closing(sqlite3.connect(path)) as database:
        names = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] not in without]
        return names, database.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()


@pytest.mark.parametrize("table", ["runs", "items", "attempts", "replies", "scores"])
def test_a_merge_keeps_every_column_of_its_parts(evalcore, write_suite, tmp_path, table):
    (tmp_path / "prices.json").write_text('{"usd_per_million_tokens": [{"model": "*", "input": 1, "output": 2}]}')
    how = script_of(
        tmp_path, {"match": "number 3", "error": {"code": "timeout"}}, {"text": "Hello!", "usage": {"prompt_tokens": 5}}
    )
    run_shards(evalcore, write_suite("s.jsonl", items(12)), 2, *how, "--price", "prices.json")
    assert evalcore("merge", "merged", "part1", "part2").returncode == 4
    numbers = {"attempt_id", "reply_id"}
    expected = []
    for part in ("part1", "part2"):
        names, rows = columns_of(tmp_path / part / "run.db", table, numbers)
        expected += rows
    merged_names, merged = columns_of(tmp_path / "merged/run.db", table, numbers)
    assert merged_names == names
    if table == "runs":
        merged = merged[:2]  # The third is the merge's own.
    assert sorted(map(repr, merged)) == sorted(map(repr, expected))


def test_missing_items_are_listed_and_a_run_on_the_merge_answers_them(evalcore, write_suite, tmp_path):
    how = script_of(tmp_path, {"text": "Hello!"})
    suite = write_suite("s.jsonl", items(12))
    run_shards(evalcore, suite, 3, *how)
    gone = stored_replies(tmp_path / "part2").keys()
    done = evalcore("merge", "merged", "part1", "part3")
    assert done.returncode == 4
    assert re.findall(r"^evalcore: missing: (.*)$", done.stderr, re.MULTILINE) == sorted(gone)
    assert f"{len(gone)} of 12 items are missing" in done.stderr
    assert summary(tmp_path / "merged")["not_run"] == len(gone)
    assert not (tmp_path / "merged/rows.jsonl").exists()
    rest = evalcore("run", suite, *how, "--out", "merged")
    assert (rest.returncode, summary(tmp_path / "merged")["sent"]) == (0, len(gone)), rest.stderr
    assert (tmp_path / "merged/rows.jsonl").exists()


def test_files_that_are_not_parts_of_one_run_are_refused_by_name(evalcore, write_suite, tmp_path):
    how = script_of(tmp_path, {"text": "Hello!"})
    suite = write_suite("s.jsonl", items(12))
    run_shards(evalcore, suite, 2, *how)
    assert evalcore("run", suite, *how, "--out", "all").returncode == 0
    assert evalcore("run", suite, *how, "--shard", "2/2", "--seed", "7", "--out", "seeded").returncode == 0
    assert evalcore("run", write_suite("t.jsonl", [hi(1)]), *how, "--out", "foreign").returncode == 0
    for other, said in [
        ("all", 'item "q0'),
        (
            "seeded",
            "seeded/run.db was run with other options than part1/run.db: seed is 7 in seeded/run.db and none in",
        ),
        ("foreign", "foreign/run.db holds answers to another suite"),
        ("absent", "there is no run file absent"),
    ]:
        done = evalcore("merge", f"merged-{other}", "part1", other)
        assert done.returncode == 2
        assert said in done.stderr
        assert other in done.stderr
        assert not (tmp_path / f"merged-{other}/run.db").exists()
    assert evalcore("merge", "part1", "part1", "part2").returncode == 2, "part1 has a run.db already"


def test_a_suite_that_moved_is_named_with_an_option(evalcore, write_suite, tmp_path):
    how = script_of(tmp_path, {"text": "Hello!"})
    suite = write_suite("s.jsonl", items(12))
    run_shards(evalcore, suite, 2, *how)
    suite.rename(tmp_path / "moved.jsonl")
    lost = evalcore("merge", "merged", "part1", "part2")
    assert lost.returncode == 2
    assert "--suite" in lost.stderr
    found = evalcore("merge", "merged", "part1", "part2", "--suite", "moved.jsonl")
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/", "/2", "1/0", "01x/2", "-1/2"])
def test_a_shard_that_is_none_is_a_usage_error(evalcore, write_suite, shard):
    done = evalcore("run", write_suite("s.jsonl", items(2)), "-b", "scripted", f"--shard={shard}")
    assert done.returncode == 2
    assert "such as 1/4" in done.stderr
