"""A backend that an async function plays, for a model that no other selector reaches."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import weakref
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Union

from evalcore import errors
from evalcore._abi import lib
from evalcore._native import Handle, call, check, events, make, read, text
from evalcore._runtime import runtime
from evalcore._watch import Watch
from evalcore.backend import Backend

ASKED, WITHDRAWN = 12, 13
STATUS = {kind: status for status, kind in errors.BY_STATUS.items()}

Answer = Callable[[Mapping[str, Any]], Awaitable[Union[str, Mapping[str, Any]]]]


class HostBackend(Backend):
    """Pools, runs and episodes take it as any other backend; what they ask waits until it is served.

    model: its name. identity: what an answer may depend on (a file's hash, a version); replies in a store are used
    again only for the same.
    """

    def __init__(self, model: str, identity: Mapping[str, str] | None = None) -> None:
        self._runtime = runtime()
        with self._runtime.handle as owner:
            known = text(json.dumps(dict(identity or {})))
            address = make(lib.evc_backend_new_host, owner, text(model), known)
        self._handle = Handle(address, lib.evc_backend_free, lib.evc_backend_wake)
        self._descriptor: int = lib.evc_backend_event_fd(address)
        weakref.finalize(self, self._handle.close)

    @contextlib.asynccontextmanager
    async def serving(self, answer: Answer) -> AsyncIterator[None]:
        """As long as the block lasts, what is asked is answered by `answer(request)`, many at once, in this loop.

        request: the body of a chat completion of OpenAI's API. It returns the answer's text, or a whole completion. An
        EvalcoreError that it raises is what became of the request, and says whether it is asked again; any other
        exception is an InternalError. A request that nobody waits for any more is cancelled. One block at a time.
        """
        tasks: dict[int, asyncio.Task[None]] = {}

        def forget(ticket: int, _: asyncio.Task[None]) -> None:
            del tasks[ticket]

        def drain() -> None:
            for kind, ticket, asked in self._take():
                if kind == ASKED:
                    task = asyncio.get_running_loop().create_task(self._serve(answer, ticket, json.loads(asked)))
                    tasks[ticket] = task
                    task.add_done_callback(functools.partial(forget, ticket))
                elif kind == WITHDRAWN and ticket in tasks:
                    tasks[ticket].cancel()

        try:
            with Watch(drain).during(self._descriptor):
                yield
        finally:
            left = list(tasks.values())
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _serve(self, answer: Answer, ticket: int, request: Mapping[str, Any]) -> None:
        try:
            given = await answer(request)
            message = {"role": "assistant", "content": given}
            whole = {"choices": [{"message": message, "finish_reason": "stop"}]} if isinstance(given, str) else given
            with self._handle as address:
                call(lib.evc_backend_answer, address, ticket, text(json.dumps(whole)))
        except errors.EvalcoreError as why:
            self._fail(ticket, STATUS.get(type(why), STATUS[errors.InternalError]), why.message)
        except asyncio.CancelledError:
            self._fail(ticket, STATUS[errors.CancelledError], "it is not served any more")
            raise
        except Exception as why:
            self._fail(ticket, STATUS[errors.InternalError], f"{type(why).__name__}: {why}")

    def _fail(self, ticket: int, status: int, message: str) -> None:
        with contextlib.suppress(errors.ClosedError), self._handle as address:
            check(lib.evc_backend_fail(address, ticket, status, text(message)), "a failure")

    def _take(self) -> list[tuple[int, int, str]]:
        """What is there, as kind, ticket and JSON."""
        return [
            (lib.evc_event_kind(event), lib.evc_event_ticket(event), read(lib.evc_event_json(event)))
            for event in events(self._handle, lib.evc_backend_poll)
        ]
