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
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union

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
    kept in out/shards. Errors: those of evalcore.run(), TransportError (no node is left, or a shard was lost three
    times); shards that go on are waited for and kept.
    """
    for name in ("shard", "store"):
        if name in options:
            raise TypeError(f"{name} is not an option of a run on Ray")
    folder = pathlib.Path(os.path.abspath(out))
    kept = folder / "shards"
    kept.mkdir(parents=True, exist_ok=True)
    suite = pathlib.Path(items) if is_path(items) else folder / "items.jsonl"  # type: ignore[arg-type]
    if not is_path(items):
        write(items, suite)
    given = [pathlib.Path(one) for one in (suite, answers) if one is not None]

    wanted = dict(resources or {"CPU": 1})
    if not ray.is_initialized():
        ray.init()
    count = shards or _earlier(kept) or max(1, len(_nodes(wanted)))
    parts = [kept / f"{number}-of-{count}.db" for number in range(1, count + 1)]
    work = _Work(given, open_backend, options, wanted, parts)
    work.finish()
    return _merged(folder, parts, given, work.notes)


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


def _run_shard(
    files: Sequence[tuple[str, bytes]],
    earlier: bytes | None,
    shard: tuple[int, int],
    open_backend: OpenBackend,
    options: Mapping[str, Any],
) -> bytes:
    """On a node: the run file of one shard, beginning with what an earlier call left."""
    with tempfile.TemporaryDirectory(prefix="evalcore-") as scratch, contextlib.ExitStack() as opened:
        paths = [pathlib.Path(scratch, name) for name, _ in files]
        for path, (_, content) in zip(paths, files):
            path.write_bytes(content)
        out = pathlib.Path(scratch, "out")
        out.mkdir()
        store = out / "run.db"
        if earlier is not None:
            store.write_bytes(earlier)
        backends = open_backend()
        for one in [backends] if isinstance(backends, Backend) else backends:
            opened.enter_context(one)
        answers = paths[1] if len(paths) > 1 else None
        runs.run(paths[0], backends, out=out, answers=answers, shard=shard, **options)
        return store.read_bytes()


class _Work:
    """Which shards wait, and which node has which."""

    def __init__(
        self,
        files: Iterable[pathlib.Path],
        open_backend: OpenBackend,
        options: Mapping[str, Any],
        wanted: dict[str, float],
        parts: list[pathlib.Path],
    ) -> None:
        self.notes: list[str] = []
        # Once for all shards; the objects live on the driver's node.
        self._common = (ray.put([(path.name, path.read_bytes()) for path in files]), open_backend, dict(options))
        self._wanted = wanted
        self._parts = parts
        self._waiting = collections.deque(range(1, len(parts) + 1))
        self._running: dict[ray.ObjectRef[bytes], tuple[int, str]] = {}
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

    def _submit(self, shard: int, node: str) -> ray.ObjectRef[bytes]:
        files, open_backend, options = self._common
        part = self._parts[shard - 1]
        earlier = part.read_bytes() if part.exists() else None
        resources = dict(self._wanted)
        task = ray.remote(_run_shard).options(
            num_cpus=resources.pop("CPU", 0),
            num_gpus=resources.pop("GPU", 0),
            resources=resources,
            max_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        return task.remote(files, earlier, (shard, len(self._parts)), open_backend, options)

    def _take(self, ref: ray.ObjectRef[bytes]) -> None:
        shard, node = self._running.pop(ref)
        try:
            content = ray.get(ref)
        except (RayTaskError, TaskCancelledError) as why:
            self._failed = self._failed or why
        except RayError as why:
            self._again(shard, node, why)
        else:
            part = self._parts[shard - 1]
            half = part.with_suffix(".part")
            half.write_bytes(content)
            os.replace(half, part)
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
    folder: pathlib.Path, parts: Sequence[pathlib.Path], given: Sequence[pathlib.Path], notes: list[str]
) -> runs.RunResult:
    store = folder / "run.db"
    if store.exists():
        # Made anew from the parts, but somebody may have gone on from it.
        os.replace(store, folder / "run.before.db")
    (folder / "rows.jsonl").unlink(missing_ok=True)
    names = zip(("--suite", "--answers"), given)
    command = [PROGRAM, "merge", folder, *parts, *(word for pair in names for word in pair), "--json"]
    done = subprocess.run([os.fspath(word) for word in command], capture_output=True, text=True, encoding="utf-8")
    said = [line.replace("evalcore: ", "", 1) for line in done.stderr.splitlines()]
    # 4: items errored or are missing, as the summary says.
    if done.returncode not in (0, 4):
        raise errors.InvalidArgumentError("; ".join(said) or f"evalcore merge ended with {done.returncode}")
    rows = folder / "rows.jsonl"
    lines = rows.read_text(encoding="utf-8").splitlines() if rows.exists() else []
    return runs.RunResult(json.loads(done.stdout), [json.loads(line) for line in lines], folder, notes + said)
