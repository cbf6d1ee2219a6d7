"""A suite as the library reads it."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping

from evalcore._abi import lib
from evalcore._items import Items, is_path, lines
from evalcore._native import make, take_text, text
from evalcore._runtime import interruptible
from evalcore.backend import Backend
from evalcore.options import Path, RunOptions, ScoreOptions, made

if TYPE_CHECKING:
    from typing_extensions import Unpack


@contextlib.contextmanager
def opened(items: Items, answers: Path | None) -> Iterator[int]:
    """The handle as long as the block lasts; every line is checked. Items that are no path are kept in memory."""
    if is_path(items):
        handle = make(lib.evc_suite_open, text(items), text(answers or ""))  # type: ignore[arg-type]
    else:
        handle = make(lib.evc_suite_open_text, text("items.jsonl"), text("".join(lines(items))))
    try:
        yield handle
    finally:
        lib.evc_suite_free(handle)


@dataclasses.dataclass(frozen=True)
class ScoredReplies:
    """summary: what `evalcore score --json` prints. verdicts: one for each reply, in the order of the suite, as
    `--verdicts` writes them. unknown: replies to no item of the suite."""

    summary: Mapping[str, Any]
    verdicts: List[Mapping[str, Any]]
    unknown: int


def score(
    items: Items, replies: Path, *, answers: Path | None = None, **options: Unpack[ScoreOptions]
) -> ScoredReplies:
    """Scores replies that are there already, without a backend: what `evalcore score` does.

    items: as for run(). replies: a file of JSON lines, `id` and `text` or `calls` (docs/suite.md). Errors:
    NotFoundError, StorageError; BadSuiteError, by file and line; InvalidArgumentError. Blocks. Any thread.
    """
    lines, unknown = ctypes.c_void_p(), ctypes.c_uint64()
    with opened(items, answers) as suite, made("score", options) as settings:
        told = interruptible(
            lambda: make(
                lib.evc_suite_score, suite, text(replies), settings, ctypes.byref(lines), ctypes.byref(unknown)
            )
        )
    summary = json.loads(take_text(told))
    assert lines.value is not None
    verdicts = [json.loads(line) for line in take_text(lines.value).split("\n") if line]
    return ScoredReplies(summary, verdicts, unknown.value)


def plan(
    items: Items,
    backend: Backend | None = None,
    *,
    answers: Path | None = None,
    **options: Unpack[RunOptions],
) -> dict[str, Any]:
    """What run() would send in which order, and what the backend's cache can be expected to give: the object that
    `evalcore plan --json` prints. Nothing is generated.

    items: as for run(). backend: None counts prompts in bytes and assumes a cache that finds any common prefix. Of the
    options limit, order, params, tools, pool and price count. Errors: BadSuiteError, and those of the backend. Blocks;
    Ctrl-C ends it. Any thread.
    """
    with contextlib.ExitStack() as kept:
        suite = kept.enter_context(opened(items, answers))
        settings = kept.enter_context(made("run", options))
        model = kept.enter_context(backend._handle) if backend else None
        planned = interruptible(
            lambda: take_text(make(lib.evc_suite_plan, suite, model, settings)),
            lambda: lib.evc_run_options_cancel_plan(settings),
        )
        return dict(json.loads(planned))
