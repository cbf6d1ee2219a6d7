"""Answers that are on their way from a pool."""

from __future__ import annotations

import asyncio
import collections
import contextlib
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Generator, Iterator

from evalcore import errors
from evalcore._abi import lib
from evalcore._watch import Signal
from evalcore.request import Reply

if TYPE_CHECKING:
    from evalcore.pool import Pool


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
