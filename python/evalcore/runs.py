"""Runs of a suite: what `evalcore run` does."""

from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import json
import os
import pathlib
import weakref
from typing import TYPE_CHECKING, Any, AsyncIterator, Iterator, List, Mapping, Optional, Sequence, Union

from evalcore import suite
from evalcore._abi import lib
from evalcore._items import Items, is_path, write
from evalcore._native import CLOSED, TIMEOUT, Handle, check, error_from, make, read, text
from evalcore._queue import SLICE_MS
from evalcore._watch import Signal, Watch
from evalcore.backend import Backend, opened
from evalcore.options import Path, RunOptions, made
from evalcore.scoring import Scorer, Scoring, is_async, name_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

NOTE, PROGRESS, RUN_END, SCORE_ASKED = 5, 6, 7, 14


@dataclasses.dataclass(frozen=True)
class Note:
    """What the command would say on standard error."""

    text: str


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run stands: {items, reused, done, running, retrying, errors, prompt_tokens, cached_tokens,
    completion_tokens, elapsed_s, paused_s}; what is not known is None."""

    figures: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class RunResult:
    """What a run left: its summary.json, the lines of its rows.jsonl, and the folder (docs/run-files.md).

    rows is empty while items are `not_run`. notes: what the command would have said on standard error.
    """

    summary: Mapping[str, Any]
    rows: List[Mapping[str, Any]]
    out: pathlib.Path
    notes: List[str]

    @property
    def score(self) -> Optional[float]:
        """0 to 1, missing items taken as wrong; None where there is no item."""
        return self.summary["score"]  # type: ignore[no-any-return]


class Run:
    """A run that goes on by itself. Iterate over it, by `for` or `async for`, for its notes and its progress; result()
    gives what it left. One thread or task reads; the other functions are for any thread.

    close(), or the end of the block, cancels it and waits until what is done is kept.
    """

    def __init__(self, handle: int, out: pathlib.Path, scorer: Optional[Scorer] = None) -> None:
        self._handle = Handle(handle, lib.evc_run_free, lib.evc_run_wake)
        self._scoring = Scoring(scorer, self._handle) if scorer else None
        self._descriptor: int = lib.evc_run_event_fd(handle)
        self._out = out
        self._notes: list[str] = []
        self._summary: Mapping[str, Any] | None = None
        self._error: Exception | None = None
        self._over = False
        weakref.finalize(self, self._handle.close)

    def cancel(self) -> None:
        """What is in flight is cancelled, and what is done is kept; the summary says `interrupted`, and the same run
        goes on from there another time."""
        with self._handle as address:
            check(lib.evc_run_cancel(address), "a cancellation")

    def set_concurrency(self, requests: int) -> None:
        """Requests in flight at most, at each endpoint: 1 to 10,000. Without effect while nothing is sent."""
        with self._handle as address:
            check(lib.evc_run_set_concurrency(address, requests), f"a concurrency of {requests}")

    def result(self) -> RunResult:
        """Waits for the end. Errors: BusyError, StorageError, and those of the backend."""
        for _ in self:
            pass
        return self._result()

    async def wait(self) -> RunResult:
        """The same in an event loop. If the task is cancelled, so is the run."""
        async for _ in self:
            pass
        return self._result()

    def __iter__(self) -> Iterator[Note | Progress]:
        if self._scoring and self._scoring.is_async:
            raise TypeError("the scorer is an async function: read the run by `async for`, or await wait()")
        while not self._over:
            told = self._take(SLICE_MS)
            if told is not None:
                yield told

    async def __aiter__(self) -> AsyncIterator[Note | Progress]:
        if self._over:
            return
        readable = Signal()
        try:
            with Watch(readable.set).during(self._descriptor):
                while not self._over:
                    told = self._take(0)
                    if told is not None:
                        yield told
                    elif not self._over:
                        await readable.once()
        except asyncio.CancelledError:
            self.cancel()
            raise
        finally:
            if self._scoring:
                await self._scoring.end()

    def close(self) -> None:
        self._handle.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Run:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def _take(self, timeout_ms: int) -> Note | Progress | None:
        event = ctypes.c_void_p()
        with self._handle as address:
            status = lib.evc_run_poll(address, timeout_ms, ctypes.byref(event))
        if status == CLOSED:
            self._over = True
        if status in (CLOSED, TIMEOUT):
            return None
        check(status, "a poll")
        try:
            return self._read(event.value)
        finally:
            lib.evc_event_free(event)

    def _read(self, event: int | None) -> Note | Progress | None:
        kind = lib.evc_event_kind(event)
        if kind == NOTE:
            self._notes.append(read(lib.evc_event_text(event)))
            return Note(self._notes[-1])
        if kind == PROGRESS:
            return Progress(json.loads(read(lib.evc_event_json(event))))
        if kind == SCORE_ASKED and self._scoring:
            self._scoring.asked(event)
        if kind == RUN_END:
            error, summary = lib.evc_event_error(event), read(lib.evc_event_json(event))
            self._error = error_from(error) if error else None
            self._summary = json.loads(summary) if summary else None
            self._over = True
        return None

    def _result(self) -> RunResult:
        if self._error is not None:
            raise self._error
        assert self._summary is not None
        return RunResult(self._summary, self._rows(self._summary["run_id"]), self._out, self._notes)

    def _rows(self, run_id: str) -> list[Mapping[str, Any]]:
        # A run that is not whole leaves the rows of an earlier one alone.
        path = self._out / "rows.jsonl"
        if not path.exists():
            return []
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [row for row in lines if row["run_id"] == run_id]


def start(
    items: Items,
    backends: Union[Backend, Sequence[Backend]],
    *,
    out: Path,
    answers: Optional[Path] = None,
    scorer: Optional[Scorer] = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Begins a run and does not wait for it; see run() for what it takes. BadSuiteError: a line of the suite.

    With a scorer somebody must read the run, or it does not end.
    """
    if scorer is not None:
        options.setdefault("host_scorer", name_of(scorer))
    elif "host_scorer" in options:
        raise TypeError("host_scorer is the name of a scorer, and none is given")
    folder = pathlib.Path(os.path.abspath(out))
    if is_path(items):
        path = pathlib.Path(items)  # type: ignore[arg-type]
    else:
        # It stays there, since a suite must stay as it is while it is run. Its name is that of the task.
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "items.jsonl"
        write(items, path)
    with suite.opened(path, answers) as opened_suite, made("run", options) as settings:
        check(lib.evc_run_options_set_out(settings, text(folder)), f"out={out!r}")
        with opened(backends) as (owner, endpoints, count):
            return Run(make(lib.evc_run_start, owner, opened_suite, endpoints, count, settings), folder, scorer)


def run(
    items: Items,
    backends: Union[Backend, Sequence[Backend]],
    *,
    out: Path,
    answers: Optional[Path] = None,
    scorer: Optional[Scorer] = None,
    **options: Unpack[RunOptions],
) -> RunResult:
    """Runs a suite and waits for its end, as `evalcore run` does.

    items: the path of a suite, or any iterable of mappings with the members of a suite's line (docs/suite.md): a list,
    a generator, a data set of Hugging Face's, a table of Arrow's, a data frame. Those go to items.jsonl in `out`; what
    has no id gets its number, and members that are None are left out. backends: one, or several of the same model.
    out: the folder of the run's files; the same call again goes on from what is there and sends only what is missing.
    answers: of a BFCL suite.

    scorer: `scorer(item, reply)` scores all replies in the place of the suite's scorers: a number from 0 to 1, or a
    mapping {value, extracted, reason}. item: the members of its line; reply: a Reply. What it raises makes the item
    unscored, with its text as the reason. An async function may score up to 256 replies at once, another one after the
    other on this thread. Scores are kept under `host_scorer`, by default the function's name: the same call again
    scores only what has no score under that name, so a scorer that changed takes another.

    Ctrl-C cancels it; what is done is kept. Errors: BadSuiteError, BusyError (another process has the store),
    StorageError, and those of the backend. A request that failed is no error of the run: the summary counts it.
    """
    if scorer is not None and is_async(scorer):
        return asyncio.run(run_async(items, backends, out=out, answers=answers, scorer=scorer, **options))
    with start(items, backends, out=out, answers=answers, scorer=scorer, **options) as going:
        return going.result()


async def run_async(
    items: Items,
    backends: Union[Backend, Sequence[Backend]],
    *,
    out: Path,
    answers: Optional[Path] = None,
    scorer: Optional[Scorer] = None,
    **options: Unpack[RunOptions],
) -> RunResult:
    """run() in an event loop. Items are read, and the suite is checked, on another thread."""
    begin = asyncio.get_running_loop().run_in_executor(
        None, lambda: start(items, backends, out=out, answers=answers, scorer=scorer, **options)
    )
    async with await begin as going:
        return await going.wait()
