"""A suite as the library reads it."""

from __future__ import annotations

import contextlib
import json
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Iterator

from evalcore._abi import lib
from evalcore._items import Items, is_path, write
from evalcore._native import make, take_text, text
from evalcore._runtime import interruptible
from evalcore.backend import Backend
from evalcore.options import Path, RunOptions, made

if TYPE_CHECKING:
    from typing_extensions import Unpack


@contextlib.contextmanager
def opened(path: Path, answers: Path | None) -> Iterator[int]:
    """The handle as long as the block lasts; every line is checked."""
    handle = make(lib.evc_suite_open, text(path), text(answers or ""))
    try:
        yield handle
    finally:
        lib.evc_suite_free(handle)


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
    with tempfile.TemporaryDirectory(prefix="evalcore-") as folder:
        path = items if is_path(items) else pathlib.Path(folder, "items.jsonl")
        if not is_path(items):
            write(items, pathlib.Path(path))  # type: ignore[arg-type]
        with contextlib.ExitStack() as kept:
            suite = kept.enter_context(opened(path, answers))  # type: ignore[arg-type]
            settings = kept.enter_context(made("run", options))
            model = kept.enter_context(backend._handle) if backend else None
            return dict(json.loads(interruptible(lambda: take_text(make(lib.evc_suite_plan, suite, model, settings)))))
