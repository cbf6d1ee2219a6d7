"""One queue of events that many threads wait on, each for what is its own."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Generic, List, Tuple, TypeVar

from evalcore import errors
from evalcore._native import Handle

T = TypeVar("T")

# How long a thread stays in native code at most: Ctrl-C is heard between two calls only.
SLICE_MS = 100


class Queue(Generic[T]):
    """Whoever waits reads the queue for all; the others wait until that one has read something.

    read(address, timeout_ms): takes what has come to those it belongs to, and gives how many events that were and what
    has ended with them; ClosedError: nothing will come any more. wake(address): makes a read that waits return.
    """

    def __init__(
        self,
        handle: Handle,
        read: Callable[[int, int], Tuple[int, List[T]]],
        wake: Callable[[int], Any] | None = None,
    ) -> None:
        self._handle = handle
        self._read = read
        self._wake = wake
        self._turn = threading.Condition()
        self._polling = False
        self._taking = 0

    def wait(self, ready: Callable[[], bool], timeout: float | None = None) -> bool:
        """Until it is ready; false if it is not within so many seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not ready():
            left = slice_ms(deadline)
            if left == 0:
                return False
            with self._turn:
                if self._polling:
                    self._turn.wait(left / 1000)
                    continue
                self._polling = True
            try:
                self.take(left, leading=True)
            except errors.ClosedError:
                self.settle()
                if not ready():
                    raise
            finally:
                with self._turn:
                    self._polling = False
                    self._turn.notify_all()
        return True

    def take(self, timeout_ms: int, leading: bool = False) -> tuple[int, list[T]]:
        """Reads once."""
        with self._turn:
            self._taking += 1
        try:
            with self._handle as address:
                count, ended = self._read(address, timeout_ms)
                if count and self._polling and not leading and self._wake:
                    # One of them may be what another thread waits for in native code.
                    self._wake(address)
            return count, ended
        finally:
            with self._turn:
                self._taking -= 1
                self._turn.notify_all()

    def settle(self) -> None:
        """Waits until what other threads took from a queue that has ended is with those who asked."""
        with self._turn:
            self._turn.wait_for(lambda: self._taking == 0)


def slice_ms(deadline: float | None) -> int:
    """Milliseconds for one call; 0: the deadline has passed."""
    if deadline is None:
        return SLICE_MS
    left = deadline - time.monotonic()
    return min(SLICE_MS, int(left * 1000) + 1) if left > 0 else 0
