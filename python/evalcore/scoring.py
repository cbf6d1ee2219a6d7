"""Replies of a run that a function scores."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
from typing import Any, Awaitable, Callable, Mapping, SupportsFloat, Union

from evalcore import errors
from evalcore._abi import lib
from evalcore._native import Handle, call, read, text
from evalcore.request import Reply, reply_from

Verdict = Union[SupportsFloat, Mapping[str, Any]]
Scorer = Callable[[Mapping[str, Any], Reply], Union[Verdict, Awaitable[Verdict]]]


def is_async(scorer: Scorer) -> bool:
    return inspect.iscoroutinefunction(scorer) or inspect.iscoroutinefunction(type(scorer).__call__)


def name_of(scorer: Scorer) -> str:
    return getattr(scorer, "__name__", None) or type(scorer).__name__


class Scoring:
    """What a run asks to be scored, and the answers. On the thread, and in the loop, that reads the run's events."""

    def __init__(self, scorer: Scorer, run: Handle) -> None:
        self._scorer: Callable[..., Any] = scorer
        self._run = run
        self.is_async = is_async(scorer)
        self._tasks: set[asyncio.Task[None]] = set()

    def asked(self, event: int | None) -> None:
        """Of an EVC_EVENT_SCORE_ASKED."""
        ticket = lib.evc_event_ticket(event)
        told = json.loads(read(lib.evc_event_json(event)))
        item = {**told["item"], "target": told["target"]}
        reply = reply_from(lib.evc_event_reply(event))
        if self.is_async:
            task = asyncio.get_running_loop().create_task(self._score_later(ticket, item, reply))
            self._tasks.add(task)
            task.add_done_callback(functools.partial(self._ended, ticket))
            return
        try:
            self._give(ticket, self._scorer(item, reply))
        except Exception as why:
            self._give_none(ticket, why)

    async def end(self) -> None:
        """Cancels what is still being scored."""
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _ended(self, ticket: int, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        # Also of a task that never began. The run would wait for it.
        if task.cancelled():
            self._give_none(ticket, asyncio.CancelledError("the scorer was cancelled"))

    async def _score_later(self, ticket: int, item: Mapping[str, Any], reply: Reply) -> None:
        try:
            self._give(ticket, await self._scorer(item, reply))
        except Exception as why:
            self._give_none(ticket, why)

    def _give(self, ticket: int, verdict: Verdict) -> None:
        score = dict(verdict) if isinstance(verdict, Mapping) else {"value": verdict}
        score["value"] = float(score["value"])
        # A run that was cancelled waits for no score.
        with contextlib.suppress(errors.NotFoundError, errors.ClosedError), self._run as address:
            call(lib.evc_run_score, address, ticket, text(json.dumps(score)))

    def _give_none(self, ticket: int, why: BaseException) -> None:
        # Half a surrogate pair in a message is no reason to end the run.
        reason = f"{type(why).__name__}: {why}".encode("utf-8", "replace")
        with contextlib.suppress(errors.NotFoundError, errors.ClosedError), self._run as address:
            call(lib.evc_run_unscored, address, ticket, text(reason))
