"""A run over requests of lm-eval, and its replies in their order."""

from __future__ import annotations

import contextlib
import json
import logging
import pathlib
import sqlite3
from typing import Any, Dict, List, Mapping, Sequence, Union

from tqdm import tqdm

from evalcore import errors, runs
from evalcore.backend import Backend

log = logging.getLogger(__name__)

OWN = "JOIN runs AS own ON own.run_id = ?"
REPLIES = f"""SELECT item_id, body FROM replies JOIN items USING (item_key) JOIN attempts USING (attempt_id)
  JOIN runs ON runs.run_id = attempts.run_id {OWN}
  WHERE runs.suite_hash = own.suite_hash AND runs.identity = own.identity ORDER BY reply_id"""
FAILURES = """SELECT item_id, error_code, error_message, backend_words FROM attempts JOIN items USING (item_key)
  WHERE run_id = ? AND state = 'failed' ORDER BY attempt_id"""

BY_CODE = {kind.code: kind for kind in errors.BY_STATUS.values()}


def ask(
    items: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    backends: Union[Backend, Sequence[Backend]],
    out: pathlib.Path,
    options: Mapping[str, Any],
    quiet: bool,
) -> List[Mapping[str, Any]]:
    """The reply to each item, as the store has it (docs/run-files.md). All are handed over at once; what the store has
    is not asked again. names: what to call an item of which there is no reply.

    Errors: that of the first request that failed, after all others are answered and kept; those of a run.
    """
    with runs.start(items, backends, out=out, **options) as run:
        with tqdm(total=len(items), desc="Requesting through evalcore", disable=quiet) as bar:
            for event in run:
                if isinstance(event, runs.Progress):
                    bar.update(event.figures["done"] - bar.n)
                else:
                    log.info(event.text)
        summary = run.result().summary
    if summary["reused"]:
        log.warning(
            "%d of %d answers are those of an earlier run, in %s: remove it, or name another out=, to ask again",
            summary["reused"], summary["items"], out,
        )  # fmt: skip
    with contextlib.closing(sqlite3.connect(options.get("store") or out / "run.db")) as store:
        replies = {int(item): body for item, body in store.execute(REPLIES, [summary["run_id"]])}
        if len(replies) < len(items):
            raise _failure(store, summary, [at for at in range(len(items)) if at not in replies], names, out)
    # All at once, as to call json takes longer than to read one.
    in_order: List[Mapping[str, Any]] = json.loads(f"[{','.join(replies[at] for at in range(len(items)))}]")
    return in_order


def _failure(
    store: sqlite3.Connection,
    summary: Mapping[str, Any],
    missing: Sequence[int],
    names: Sequence[str],
    out: pathlib.Path,
) -> errors.EvalcoreError:
    failed: Dict[int, Any] = {int(item): why for item, *why in store.execute(FAILURES, [summary["run_id"]])}
    told = next((at for at in missing if at in failed), missing[0])
    code, message, words = failed.get(told, ("cancelled", summary["stopped"] or "it was not sent", None))
    kind = BY_CODE.get(code, errors.RequestError)
    return kind(
        f"{len(missing)} of {len(names)} requests have no answer, such as that of {names[told]}: {message}. What is"
        f" answered is kept in {out}; the same call asks for the rest.",
        backend_words=words or "",
    )
