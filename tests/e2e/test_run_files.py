"""`docs/run-files.md` against what a run writes: no member without a word, and no word without a member."""

import contextlib
import json
import re
import sqlite3

import pytest

from conftest import REPOSITORY, hi, summary

PAGE = (REPOSITORY / "docs/run-files.md").read_text()


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table(title):
    """The cells of each row."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names_in(text):
    return re.findall(r"`([^`]+)`", text)


def named(title):
    """The members in the first column; those that are optional."""
    members, optional = set(), set()
    for row in table(title):
        members.update(names_in(row[0]))
        if row[-1].startswith("optional"):
            optional.update(names_in(row[0]))
    return members, optional


def paths(value, free, prefix=""):
    """The paths of all leaves; what lies under a name in `free` is one."""
    if prefix and prefix + ".*" in free:
        return {prefix + ".*"}
    if isinstance(value, dict):
        below = [paths(held, free, f"{prefix}.{key}" if prefix else key) for key, held in value.items()]
        return set().union(*below)
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return set().union(*(paths(one, free, prefix + "[]") for one in value))
    return {prefix}


@pytest.fixture
def folder(evalcore, write_suite, tmp_path):
    items = [{**hi(number), "category": f"c{number % 2}"} for number in range(3)]
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"text": "Hello!"}) + "\n")
    (tmp_path / "prices.json").write_text('{"usd_per_million_tokens": [{"model": "*", "input": 1, "output": 2}]}')
    done = evalcore("run", write_suite("greet.jsonl", items), "-b", "scripted", "--script", script, "--out", "made",
                    "--concurrency", "auto", "--model-step", "7", "--price", "prices.json", "-q")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "made"


def test_every_member_of_the_summary_is_documented_and_the_other_way_round(folder):
    documented, optional = named("summary.json")
    written = paths(summary(folder), {name for name in documented if name.endswith(".*")})
    assert optional == {"endpoints[].limit_history[].tokens"}
    assert written == documented - optional


def test_every_member_of_a_row_is_documented_and_the_other_way_round(folder):
    documented, optional = named("rows.jsonl")
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    assert set(rows[0]) == documented
    assert optional == {"subtask", "model_step"}


def test_every_column_of_the_store_is_documented_and_the_other_way_round(folder):
    documented = {}
    for row in table("run.db"):
        without_remarks = re.sub(r"\([^)]*\)", "", row[1])
        documented[names_in(row[0])[0]] = names_in(without_remarks)
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        written = {name: [column[1] for column in database.execute(f"PRAGMA table_info({name})")] for name in tables}
    assert written == documented


def test_the_documented_query_shows_what_was_compared(folder):
    query = re.search(r'run\.db "(.*?)"\n', section("run.db"), re.DOTALL).group(1)
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        assert database.execute(query).fetchall()[0] == ("i0", 1.0, "Hello!", "Hello!")
