"""A suite on the nodes of a Ray cluster (docs/ray.md)."""

from __future__ import annotations

import collections
import contextlib
import json
import logging
import os
import pathlib
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union

import ray
from ray.exceptions import RayError, RayTaskError, TaskCancelledError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from evalcore import errors, runs
from evalcore._command import PROGRAM
from evalcore._items import Items, is_path, write
from evalcore.backend import Backend
from evalcore.options import Path, RunOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

OpenBackend = Callable[[], Union[Backend, Sequence[Backend]]]

# A shard that takes a node down each time would take them all.
LOST_AT_MOST = 3
# Seconds after which nodes that have joined are given something to do.
LOOK_AGAIN = 1.0
# Seconds for which a node that lost a shard is given nothing: the cluster lists one that is gone for a while.
DOUBTED_S = 10.0

_log = logging.getLogger(__name__)


def run(
    items: Items,
    open_backend: OpenBackend,
    *,
    out: Path,
    shards: Optional[int] = None,
    resources: Optional[Mapping[str, float]] = None,
    answers: Optional[Path] = None,
    **options: Unpack[RunOptions],
) -> runs.RunResult:
    """Runs a suite in shards, one at a time on each node, and merges what they leave into what one run would have given.

    items, answers, out, options: as for evalcore.run(); of the options neither shard nor store, and files that they
    name must be on every node. open_backend: a function without arguments that opens the backend, called where a shard
    runs; it must be the same model everywhere. shards: how many parts; as many as nodes unless an earlier call in `out`
    chose. resources: what a shard takes of a node, in Ray's names, such as {"GPU": 1}; one CPU unless told.

    A shard whose node is lost is run again on another, from its beginning. The same call again goes on from what is
    kept in out/shards. Errors: those of evalcore.run(), NotFoundError (the package has no command, as in a source tree),
    TransportError (no node is left, or a shard was lost three times); shards that go on are waited for and kept.
    """
    for name in ("shard", "store"):
        if name in options:
            raise TypeError(f"{name} is not an option of a run on Ray")
    if not PROGRAM.exists():
        raise errors.NotFoundError(
            f"there is no {PROGRAM} to merge shards with; install the package by pip, which makes it"
        )
    folder = pathlib.Path(os.path.abspath(out))
    kept = folder / "shards"
    kept.mkdir(parents=True, exist_ok=True)
    suite = pathlib.Path(items) if is_path(items) else folder / "items.jsonl"  # type: ignore[arg-type]
    if not is_path(items):
        write(items, suite)

    wanted = dict(resources or {"CPU": 1})
    if not ray.is_initialized():
        ray.init()
    count = shards or _earlier(kept) or max(1, len(_nodes(wanted)))
    parts = [kept / f"{number}-of-{count}.db" for number in range(1, count + 1)]
    work = _Work(_travelling(suite, answers), open_backend, options, wanted, parts)
    work.finish()
    return _merged(folder, parts, suite, answers, work.notes)


def _earlier(kept: pathlib.Path) -> int | None:
    """Into how many parts an earlier call cut the suite."""
    counts = {int(part.stem.rpartition("-")[2]) for part in kept.glob("*-of-*.db")}
    if len(counts) > 1:
        raise errors.InvalidArgumentError(f"{kept} holds parts of several runs; say which with shards=…")
    return counts.pop() if counts else None


def _nodes(wanted: Mapping[str, float]) -> set[str]:
    """Nodes that live and are large enough."""
    return {
        node["NodeID"]
        for node in ray.nodes()
        if node["Alive"] and all(node["Resources"].get(name, 0) >= amount for name, amount in wanted.items())
    }


class _Suite(NamedTuple):
    """A suite as it travels: contents of files by their place in a folder, and which of them are named to a run."""

    files: Mapping[str, bytes]
    suite: str
    answers: str | None


def _travelling(suite: pathlib.Path, answers: Path | None) -> _Suite:
    # As a file of the suite's name, and the answers in a folder of their own: they have the same name.
    asked = f"suite/{suite.name}"
    files = {asked: suite.read_bytes()}
    if not answers:
        # Not named to the run, which knows whether the suite has need of them.
        beside = suite.parent / "possible_answer" / suite.name
        if beside.is_file():
            files[f"suite/possible_answer/{suite.name}"] = beside.read_bytes()
        return _Suite(files, asked, None)
    given = pathlib.Path(answers)
    if given.is_dir():
        given = given / suite.name
    answered = f"answers/{given.name}"
    return _Suite({**files, answered: given.read_bytes()}, asked, answered)


def _run_shard(
    given: _Suite,
    earlier: bytes | None,
    shard: tuple[int, int],
    open_backend: OpenBackend,
    options: Mapping[str, Any],
) -> tuple[bytes, list[str]]:
    """On a node: the run file of one shard, beginning with what an earlier call left, and the notes of its run."""
    with tempfile.TemporaryDirectory(prefix="evalcore-") as scratch, contextlib.ExitStack() as opened:
        place = pathlib.Path(scratch)
        for name, content in given.files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        out = place / "out"
        out.mkdir()
        store = out / "run.db"
        if earlier is not None:
            store.write_bytes(earlier)
        backends = open_backend()
        for one in [backends] if isinstance(backends, Backend) else backends:
            opened.enter_context(one)
        answers = place / given.answers if given.answers else None
        done = runs.run(place / given.suite, backends, out=out, answers=answers, shard=shard, **options)
        return store.read_bytes(), done.notes


class _Work:
    """Which shards wait, and which node has which."""

    def __init__(
        self,
        given: _Suite,
        open_backend: OpenBackend,
        options: Mapping[str, Any],
        wanted: dict[str, float],
        parts: list[pathlib.Path],
    ) -> None:
        self.notes: list[str] = []
        # Once for all shards; the objects live on the driver's node.
        self._common = (ray.put(given), open_backend, dict(options))
        self._wanted = wanted
        self._parts = parts
        self._waiting = collections.deque(range(1, len(parts) + 1))
        self._running: dict[ray.ObjectRef[tuple[bytes, list[str]]], tuple[int, str]] = {}
        self._lost: collections.Counter[int] = collections.Counter()
        self._doubted: dict[str, float] = {}
        self._failed: Exception | None = None

    def finish(self) -> None:
        """Until every shard is kept. After the first failure nothing new begins."""
        try:
            while self._running or (self._waiting and not self._failed):
                if not self._failed:
                    self._begin()
                if not self._running:
                    time.sleep(LOOK_AGAIN)
                    continue
                done, _ = ray.wait(list(self._running), timeout=LOOK_AGAIN)
                for ref in done:
                    self._take(ref)
        except BaseException:
            for ref in self._running:
                ray.cancel(ref)
            raise
        if self._failed:
            raise self._failed

    def _begin(self) -> None:
        nodes = _nodes(self._wanted)
        if not nodes and not self._running:
            raise errors.TransportError(f"no node of the Ray cluster has {self._wanted}")
        busy = {node for _, node in self._running.values()}
        doubted = {node for node, until in self._doubted.items() if time.monotonic() < until}
        for node in sorted(nodes - busy - doubted):
            if self._waiting:
                shard = self._waiting.popleft()
                self._running[self._submit(shard, node)] = (shard, node)

    def _submit(self, shard: int, node: str) -> ray.ObjectRef[tuple[bytes, list[str]]]:
        given, open_backend, options = self._common
        part = self._parts[shard - 1]
        earlier = part.read_bytes() if part.exists() else None
        resources = dict(self._wanted)
        task = ray.remote(_run_shard).options(
            num_cpus=resources.pop("CPU", 0),
            num_gpus=resources.pop("GPU", 0),
            memory=resources.pop("memory", None),
            resources=resources,
            max_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        return task.remote(given, earlier, (shard, len(self._parts)), open_backend, options)

    def _take(self, ref: ray.ObjectRef[tuple[bytes, list[str]]]) -> None:
        shard, node = self._running.pop(ref)
        try:
            content, notes = ray.get(ref)
        except (RayTaskError, TaskCancelledError) as why:
            self._failed = self._failed or why
        except RayError as why:
            self._again(shard, node, why)
        else:
            part = self._parts[shard - 1]
            half = part.with_suffix(".part")
            half.write_bytes(content)
            os.replace(half, part)
            self.notes += [f"shard {shard} of {len(self._parts)}: {note}" for note in notes]
            _log.info("shard %d of %d is done", shard, len(self._parts))

    def _again(self, shard: int, node: str, why: RayError) -> None:
        self._lost[shard] += 1
        self._doubted[node] = time.monotonic() + DOUBTED_S
        if self._lost[shard] == LOST_AT_MOST:
            lost = errors.TransportError(f"shard {shard} was lost {LOST_AT_MOST} times, the last time with node {node}")
            lost.__cause__ = why
            self._failed = self._failed or lost
            return
        self.notes.append(f"node {node} was lost with shard {shard} of {len(self._parts)}, which is run again")
        _log.warning("%s", self.notes[-1])
        self._waiting.append(shard)


def _merged(
    folder: pathlib.Path, parts: Sequence[pathlib.Path], suite: pathlib.Path, answers: Path | None, notes: list[str]
) -> runs.RunResult:
    store = folder / "run.db"
    if store.exists():
        # Made anew from the parts, but somebody may have gone on from it.
        os.replace(store, folder / "run.before.db")
    (folder / "rows.jsonl").unlink(missing_ok=True)
    answered = ["--answers", answers] if answers else []
    command = [PROGRAM, "merge", folder, *parts, "--suite", suite, *answered, "--json"]
    done = subprocess.run([os.fspath(word) for word in command], capture_output=True, text=True, encoding="utf-8")
    said = [line.replace("evalcore: ", "", 1) for line in done.stderr.splitlines()]
    # 4: items errored or are missing, as the summary says.
    if done.returncode == 2:
        raise errors.InvalidArgumentError("; ".join(said))
    if done.returncode not in (0, 4):
        raise errors.InternalError("; ".join([f"evalcore merge ended with {done.returncode}", *said]))
    rows = folder / "rows.jsonl"
    lines = rows.read_text(encoding="utf-8").splitlines() if rows.exists() else []
    return runs.RunResult(json.loads(done.stdout), [json.loads(line) for line in lines], folder, notes + said)
