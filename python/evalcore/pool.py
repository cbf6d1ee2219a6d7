"""Requests in flight, for threads and for asyncio."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import ctypes
import itertools
import json
import time
import weakref
from typing import TYPE_CHECKING, Any, Sequence

from evalcore import errors
from evalcore._abi import lib
from evalcore._native import CLOSED, TIMEOUT, Handle, call, check, error_from, make, read, take_text
from evalcore._queue import SLICE_MS, Queue, slice_ms
from evalcore._watch import Signal, Watch
from evalcore.backend import Backend, opened
from evalcore.options import PoolOptions, made
from evalcore.pending import Pending, Stream
from evalcore.request import Messages, Reply, Request, as_request, native, reply_from

if TYPE_CHECKING:
    from typing_extensions import Unpack

TEXT, RETRYING, END = 1, 2, 3
BATCH = 64
# Seconds; whoever waits for room hears of it, but for what ends before it has begun to wait.
LOOK_AGAIN = 1.0


class Pool:
    """Bounded concurrency, retries and rate limits for one backend, or for several of the same model.

    Any thread, and any event loop; all at once if need be. No thread of Python's runs for it: whoever waits reads the
    queue for all. close(), or the end of the block, cancels what is in flight.
    """

    def __init__(self, backends: Backend | Sequence[Backend], **options: Unpack[PoolOptions]) -> None:
        with opened(backends) as (owner, endpoints, count), made("pool", options) as settings:
            made_pool = make(lib.evc_pool_new, owner, endpoints, count, settings)
        self._handle = Handle(made_pool, lib.evc_pool_free, lib.evc_pool_wake)
        self._descriptor: int = lib.evc_pool_event_fd(made_pool)
        self._watch = Watch(self._drain)
        self._pending: dict[int, Pending] = {}
        self._full: collections.deque[Signal] = collections.deque()
        self._tags = itertools.count(1)
        self._queue = Queue(self._handle, self._read, lib.evc_pool_wake)
        weakref.finalize(self, self._handle.close)

    def submit(self, request: Request | Messages, **params: Any) -> Pending:
        """Asks and does not wait. `params` as those of a Request.

        Errors: OverloadedError (more are outstanding than max_outstanding), ClosedError, InvalidArgumentError,
        UnsupportedError, InvalidRequestError.
        """
        return self._submit(as_request(request, params), False)

    def stream(self, request: Request | Messages, **params: Any) -> Stream:
        """The same, with the text as it comes."""
        return Stream(self._submit(as_request(request, params), True))

    async def ask(self, request: Request | Messages, **params: Any) -> Reply:
        """The answer. Where too many are outstanding it waits. If the task is cancelled, so is the request."""
        asked = as_request(request, params)
        while True:
            try:
                pending = self._submit(asked, False)
                break
            except errors.OverloadedError:
                await self._room()
        return await pending

    def poll(self, timeout: float | None = 0) -> list[Pending]:
        """Takes what has come, waiting `timeout` seconds at most for something, and gives what has ended. Whoever
        waits for an answer does this by itself. ClosedError: nothing will come any more."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            count, ended = self._queue.take(slice_ms(deadline))
            if count or (deadline is not None and time.monotonic() >= deadline):
                return ended

    def set_concurrency(self, requests: int) -> None:
        """Requests in flight at most, at each endpoint, from now on: 1 to 10,000."""
        with self._handle as address:
            check(lib.evc_pool_set_concurrency(address, requests), f"a concurrency of {requests}")

    @property
    def figures(self) -> list[dict[str, Any]]:
        """One an endpoint: {address, limit, in_flight, sent, answered, failed, completion_tokens, paused_s,
        ejections}."""
        with self._handle as address:
            return list(json.loads(take_text(make(lib.evc_pool_figures, address))))

    def close(self) -> None:
        """What is in flight ends with CancelledError. Again: nothing."""
        with contextlib.suppress(errors.ClosedError):
            with self._handle as address:
                lib.evc_pool_shutdown(address, 1)
            while True:
                self._queue.take(SLICE_MS)
        self._queue.settle()
        self._handle.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def _submit(self, request: Request, stream: bool) -> Pending:
        pending = Pending(self)
        tag = next(self._tags)
        ticket = ctypes.c_uint64()
        # Before it is submitted, since another thread may take its events at once.
        self._pending[tag] = pending
        try:
            with self._handle as address, native(request, stream) as asked:
                call(lib.evc_pool_submit, address, asked, tag, ctypes.byref(ticket))
        except BaseException:
            del self._pending[tag]
            raise
        pending.ticket = ticket.value
        return pending

    async def _room(self) -> None:
        """Until a request has ended. Who has waited longest is woken first, and may find the place taken."""
        room = Signal()
        self._full.append(room)
        try:
            with self._watching(), contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(room.once(), LOOK_AGAIN)
        finally:
            with contextlib.suppress(ValueError):
                self._full.remove(room)

    def _watching(self) -> contextlib.AbstractContextManager[None]:
        return self._watch.during(self._descriptor)

    def _drain(self) -> None:
        # Called by the loop again as long as there is more.
        with contextlib.suppress(errors.ClosedError):
            self._queue.take(0)

    def _read(self, address: int, timeout_ms: int) -> tuple[int, list[Pending]]:
        events = (ctypes.c_void_p * BATCH)()
        count = ctypes.c_size_t()
        status = lib.evc_pool_poll_many(address, timeout_ms, events, BATCH, ctypes.byref(count))
        if status == CLOSED:
            raise errors.ClosedError("the pool has ended", detail="drained")
        if status not in (0, TIMEOUT):
            check(status, "a poll")
        ended = [self._dispatch(event) for event in events[: count.value] if event]
        return count.value, [one for one in ended if one is not None]

    def _dispatch(self, event: int) -> Pending | None:
        """Takes one event over; gives its request if that has ended."""
        try:
            kind, tag = lib.evc_event_kind(event), lib.evc_event_tag(event)
            pending = self._pending.get(tag)
            if pending is None:
                return None
            if kind == TEXT:
                pending._add(read(lib.evc_event_text(event)))
            elif kind == RETRYING:
                pending._restart()
            elif kind == END:
                del self._pending[tag]
                error, reply = lib.evc_event_error(event), lib.evc_event_reply(event)
                pending._end(reply_from(reply) if reply else None, error_from(error) if error else None)
                with contextlib.suppress(IndexError):
                    self._full.popleft().set()
                return pending
            return None
        finally:
            lib.evc_event_free(event)
