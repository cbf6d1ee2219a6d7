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
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Generator, Iterator, Sequence

from evalcore import errors
from evalcore._abi import lib
from evalcore._native import CLOSED, TIMEOUT, Handle, call, check, error_from, make, read, take_text
from evalcore._queue import SLICE_MS, Queue, slice_ms
from evalcore._watch import Signal, Watch
from evalcore.backend import Backend, opened
from evalcore.options import PoolOptions, made
from evalcore.request import Messages, Reply, Request, as_request, native, reply_from

if TYPE_CHECKING:
    from typing_extensions import Unpack

TEXT, RETRYING, END = 1, 2, 3
BATCH = 64


class _Restart(str):
    """In a stream: the attempt failed, another follows, and the text so far is void. It is an empty text."""

    def __repr__(self) -> str:
        return "RESTART"


RESTART = _Restart()


class Pending:
    """An answer that is on its way. Any thread; `await pending` in an event loop.

    ticket: the request's number in its pool, above 0.
    """

    def __init__(self, pool: Pool) -> None:
        self.ticket = 0
        self._pool = pool
        self._reply: Reply | None = None
        self._error: errors.EvalcoreError | None = None
        self._done = False
        self._begun = False
        self._pieces: collections.deque[str] = collections.deque()
        self._signals: list[Signal] = []

    def done(self) -> bool:
        return self._done

    def cancel(self) -> None:
        """The request ends with CancelledError, unless it has ended."""
        with contextlib.suppress(errors.ClosedError), self._pool._handle as address:
            lib.evc_pool_cancel(address, self.ticket)

    def result(self, timeout: float | None = None) -> Reply:
        """Waits for the answer, `timeout` seconds at most. Errors: what became of the request; TimeoutError."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        assert self._reply is not None
        return self._reply

    def exception(self, timeout: float | None = None) -> errors.EvalcoreError | None:
        """The same, with what became of the request given back."""
        if not self._pool._queue.wait(lambda: self._done, timeout):
            raise TimeoutError(f"no answer within {timeout} s")
        return self._error

    def __await__(self) -> Generator[Any, None, Reply]:
        return self._wait().__await__()

    async def _wait(self) -> Reply:
        await self._until(lambda: self._done)
        return self.result()

    async def _until(self, ready: Callable[[], bool]) -> None:
        """If the task is cancelled, so is the request."""
        if ready():
            return
        signal = Signal()
        self._signals.append(signal)
        try:
            with self._pool._watching():
                await signal.until(ready)
        except asyncio.CancelledError:
            self.cancel()
            raise
        finally:
            self._signals.remove(signal)

    def _add(self, piece: str) -> None:
        self._begun = True
        self._pieces.append(piece)
        self._signal()

    def _restart(self) -> None:
        if self._begun:
            self._add(RESTART)
            self._begun = False

    def _end(self, reply: Reply | None, error: errors.EvalcoreError | None) -> None:
        self._reply, self._error, self._done = reply, error, True
        self._signal()

    def _signal(self) -> None:
        for signal in list(self._signals):
            signal.set()


class Stream:
    """The text of an answer as it comes, by `for` or by `async for`; then `reply`.

    RESTART among the pieces says that an attempt failed and that the text begins anew. A loop that is left early lets
    the request go on; cancel() ends it, and so does the cancellation of the task that waits.
    """

    def __init__(self, pending: Pending) -> None:
        self.pending = pending

    @property
    def reply(self) -> Reply:
        """The whole answer; waits for its end."""
        return self.pending.result()

    def cancel(self) -> None:
        self.pending.cancel()

    def _ready(self) -> bool:
        return bool(self.pending._pieces) or self.pending._done

    def _next(self) -> str | None:
        if self.pending._pieces:
            return self.pending._pieces.popleft()
        if self.pending._error is not None:
            raise self.pending._error
        return None

    def __iter__(self) -> Iterator[str]:
        while True:
            self.pending._pool._queue.wait(self._ready)
            piece = self._next()
            if piece is None:
                return
            yield piece

    async def __aiter__(self) -> AsyncIterator[str]:
        while True:
            await self.pending._until(self._ready)
            piece = self._next()
            if piece is None:
                return
            yield piece


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
                with self._watching():
                    await asyncio.sleep(0.01)
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
        self.close()

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
                return pending
            return None
        finally:
            lib.evc_event_free(event)
