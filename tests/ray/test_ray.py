"""Shards on a cluster of two nodes, against one run in this process."""

import collections
import contextlib
import json
import pathlib
import re
import shutil
import sqlite3
import sys
import threading
import time

import pytest
import ray
from ray.cluster_utils import Cluster

import evalcore
import evalcore.ray

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MODEL = REPOSITORY / "tests/data/models/canned/canned-q8_0.gguf"
# What is defined here travels with its code, as that of a program does; nodes cannot import a test.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
SMALL = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
# A node that was killed is known to be gone after a second or two.
QUICK = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(True, head_node_args={**SMALL, "include_dashboard": False, "_system_config": QUICK})
    second = cluster.add_node(**SMALL, resources={"second": 1})
    cluster.wait_for_nodes(60)
    ray.init(cluster.address, log_to_driver=False)
    yield cluster, second
    ray.shutdown()
    cluster.shutdown()


def items(count):
    return [
        {"id": f"i{number:03}", "prompt": f"{number} ends in {number % 10}", "target": "odd" if number % 2 else "even"}
        for number in range(count)
    ]


def script(folder, delay_ms=0):
    """The model: right for half of the items."""
    path = folder / "script.jsonl"
    lines = [{"match": f"ends in {n}", "text": "odd" if n % 2 else "no", "delay_ms": delay_ms} for n in range(10)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class Opens:
    """Opens the backend, and says in a file on which node."""

    def __init__(self, path):
        self.path, self.log = path, path.with_name("opened")

    def __call__(self):
        with open(self.log, "a") as log:
            log.write(ray.get_runtime_context().get_node_id() + "\n")
        return evalcore.Backend("scripted", script=self.path)

    def where(self):
        return self.log.read_text().split() if self.log.exists() else []


def timeless(rows):
    changing = ("run_id", "timestamp", "wall_seconds")
    return [{name: value for name, value in row.items() if name not in changing} for row in rows]


def answers(folder):
    """Every reply of a run file with its item's id, those that were given twice twice."""
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as store:
        query = "SELECT item_id, json_extract(body, '$.text') FROM items JOIN replies USING (item_key)"
        return collections.Counter(store.execute(query).fetchall())


def began(store):
    """Each request of a run file: its item, and when it went out."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        return database.execute("SELECT item_id, started_unix_ms FROM items JOIN attempts USING (item_key)").fetchall()


def counts(summary):
    return {name: summary[name] for name in ("items", "answered", "errors", "not_run", "score", "task", "suite_hash")}


def test_two_nodes_leave_what_one_run_leaves(cluster, tmp_path):
    opens = Opens(script(tmp_path))
    how = {"params": {"temperature": 0}, "task": "parity"}
    one = evalcore.run(items(60), evalcore.Backend("scripted", script=opens.path), out=tmp_path / "one", **how)
    done = evalcore.ray.run(items(60), opens, out=tmp_path / "out", **how)
    assert len(set(opens.where())) == len(opens.where()) == 2
    assert counts(done.summary) == counts(one.summary)
    assert timeless(done.rows) == timeless(one.rows) and done.score == one.score == 0.5
    assert answers(done.out) == answers(one.out)
    assert set(answers(done.out).values()) == {1} and len(answers(done.out)) == 60
    assert done.notes == []


def test_the_same_call_again_sends_only_what_is_missing(cluster, tmp_path):
    opens = Opens(script(tmp_path))
    evalcore.ray.run(items(20), opens, out=tmp_path / "out", shards=3, resources={"CPU": 1, "memory": 2**20})
    lost = tmp_path / "out/shards/2-of-3.db"
    missing = {item for item, _ in began(lost)}
    assert 0 < len(missing) < 20
    lost.unlink()
    asked_ms = time.time() * 1000
    done = evalcore.ray.run(items(20), opens, out=tmp_path / "out")
    assert {item for item, when in began(done.out / "run.db") if when >= asked_ms} == missing
    assert (done.summary["answered"], done.summary["sent"]) == (20, 20)
    assert set(answers(done.out).values()) == {1}
    assert len(opens.where()) == 6, "each call opened the backend for each of three shards"
    assert (tmp_path / "out/run.before.db").exists(), "what was merged before is not thrown away"


def test_an_error_of_a_shard_is_raised_and_what_is_done_is_kept(cluster, tmp_path):
    good = Opens(script(tmp_path))

    def fails_on_the_second():
        backend = good()
        if len(good.where()) > 1:
            raise evalcore.errors.NotFoundError("no such model")
        return backend

    with pytest.raises(evalcore.errors.NotFoundError, match="no such model"):
        evalcore.ray.run(
            items(20), fails_on_the_second, out=tmp_path / "out", shards=2, resources={"CPU": 1, "second": 1}
        )
    assert [path.name for path in (tmp_path / "out/shards").iterdir()] == ["1-of-2.db"]


@pytest.mark.parametrize("where", ["beside", "folder", "file", "file of another name"])
def test_the_answers_of_a_bfcl_suite_travel_with_it(cluster, tmp_path, where):
    suites = REPOSITORY / "tests/data/suites"
    name = "BFCL_v4_simple_python.json"
    suite, answers = tmp_path / name, tmp_path / {"beside": "possible_answer"}.get(where, "answers")
    shutil.copy(suites / name, suite)
    answers.mkdir()
    file = answers / ("answers.json" if where == "file of another name" else name)
    shutil.copy(suites / "possible_answer" / name, file)
    model = tmp_path / "model.jsonl"
    calls = [{"name": "math.factorial", "arguments": {"number": 5}}]
    model.write_text(json.dumps({"match": "factorial of 5", "calls": calls}) + '\n{"text": "no"}\n')
    given = {"beside": None, "folder": answers}.get(where, file)
    how = {"answers": given, "tools": "native"}
    one = evalcore.run(suite, evalcore.Backend("scripted", script=model), out=tmp_path / "one", **how)
    done = evalcore.ray.run(suite, Opens(model), out=tmp_path / "out", shards=2, **how)
    assert counts(done.summary) == counts(one.summary)
    assert timeless(done.rows) == timeless(one.rows)
    assert (done.summary["task"], done.score) == ("bfcl", pytest.approx(1 / 3))


def test_the_notes_of_the_shards_are_told(cluster, tmp_path):
    path = script(tmp_path)
    wrong = {"match": "7 ends", "error": {"code": "invalid_request", "message": "no sevens"}}
    path.write_text(json.dumps(wrong) + "\n" + path.read_text())
    done = evalcore.ray.run(items(10), Opens(path), out=tmp_path / "out", shards=2)
    (note,) = [note for note in done.notes if "no sevens" in note]
    assert re.match(r"shard [12] of 2: item \"i007\" errored: ", note)
    assert done.summary["errors"] == 1


def test_a_package_without_the_command_is_told_before_a_shard_begins(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(evalcore.ray, "PROGRAM", tmp_path / "evalcore")
    opens = Opens(script(tmp_path))
    with pytest.raises(evalcore.errors.NotFoundError, match="install the package"):
        evalcore.ray.run(items(2), opens, out=tmp_path / "out")
    assert opens.where() == []


@pytest.mark.parametrize(
    "status, kind", [(2, evalcore.errors.InvalidArgumentError), (70, evalcore.errors.InternalError)]
)
def test_only_files_that_do_not_go_together_are_the_callers_mistake(cluster, tmp_path, monkeypatch, status, kind):
    program = tmp_path / "evalcore"
    program.write_text(f"#!/bin/sh\necho 'evalcore: so it is' >&2\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setattr(evalcore.ray, "PROGRAM", program)
    with pytest.raises(kind, match="so it is") as caught:
        evalcore.ray.run(items(2), Opens(script(tmp_path)), out=tmp_path / "out", shards=1)
    assert type(caught.value) is kind


def test_what_no_node_has_is_said(cluster, tmp_path):
    with pytest.raises(evalcore.errors.TransportError, match="GPU"):
        evalcore.ray.run(items(2), Opens(script(tmp_path)), out=tmp_path / "out", resources={"GPU": 1})
    with pytest.raises(TypeError, match="shard"):
        evalcore.ray.run(items(2), Opens(script(tmp_path)), out=tmp_path / "out", shard=(1, 2))


def test_the_code_of_the_guide_prints_what_the_guide_says(cluster, tmp_path, monkeypatch, capsys):
    guide = (REPOSITORY / "docs/ray.md").read_text(encoding="utf-8")
    (code,), (said,) = (re.findall(rf"^```{kind}\n(.*?)^```$", guide, flags=re.M | re.S) for kind in ("python", "text"))
    monkeypatch.chdir(tmp_path)
    exec(code.replace("/models/model.gguf", str(MODEL)), {"__name__": "__main__"})
    assert capsys.readouterr().out == said


def test_the_shard_of_a_node_that_is_killed_is_run_again(cluster, tmp_path):
    """The last test, since a node is gone after it."""
    nodes, second = cluster
    (tmp_path / "late").mkdir()
    late = script(tmp_path / "late", delay_ms=3_600_000)
    doomed = second.node_id

    class OpensLate(Opens):
        """What the doomed node is asked it would answer in an hour."""

        def __call__(self):
            backend = super().__call__()
            here = ray.get_runtime_context().get_node_id()
            return evalcore.Backend("scripted", script=late) if here == doomed else backend

    opens = OpensLate(script(tmp_path))
    how = {"params": {"temperature": 0}, "task": "parity", "pool": {"concurrency": 2}}
    one = evalcore.run(items(80), evalcore.Backend("scripted", script=opens.path), out=tmp_path / "one", **how)
    results = []
    work = threading.Thread(
        target=lambda: results.append(evalcore.ray.run(items(80), opens, out=tmp_path / "out", **how))
    )
    work.start()
    deadline = time.monotonic() + 60
    while second.node_id not in opens.where():
        assert time.monotonic() < deadline and work.is_alive()
        time.sleep(0.05)
    nodes.remove_node(second, allow_graceful=False)
    work.join(90)
    assert not work.is_alive()
    (done,) = results
    survivor = ({*opens.where()} - {second.node_id}).pop()
    assert collections.Counter(opens.where()) == {second.node_id: 1, survivor: 2}
    assert len(done.notes) == 1 and second.node_id in done.notes[0]
    assert counts(done.summary) == counts(one.summary)
    assert timeless(done.rows) == timeless(one.rows)
    assert answers(done.out) == answers(one.out)
    assert set(answers(done.out).values()) == {1} and len(answers(done.out)) == 80
