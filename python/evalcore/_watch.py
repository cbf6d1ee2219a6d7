"""Waiting on a descriptor of evalcore's in an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Callable, Iterator

from evalcore.errors import UnsupportedError


class Watch:
    """Has each loop that waits read a queue while it waits, and no longer: a loop that nobody waits in holds nothing.

    Several loops, each on a thread of its own, may wait at once; whichever is first takes the events.
    """

    def __init__(self, drain: Callable[[], None]) -> None:
        self._drain = drain
        self._waiting: dict[asyncio.AbstractEventLoop, int] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def during(self, descriptor: int) -> Iterator[None]:
        """From inside the loop."""
        if descriptor < 0:
            raise UnsupportedError("no descriptor can be had for this queue")
        loop = asyncio.get_running_loop()
        with self._lock:
            first = self._waiting.get(loop, 0) == 0
            self._waiting[loop] = self._waiting.get(loop, 0) + 1
        if first:
            loop.add_reader(descriptor, self._drain)
        try:
            yield
        finally:
            with self._lock:
                self._waiting[loop] -= 1
                last = self._waiting[loop] == 0
                if last:
                    del self._waiting[loop]
            if last:
                loop.remove_reader(descriptor)


class Signal:
    """Wakes one coroutine from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def set(self) -> None:
        # A loop that is closed has nobody left who waits.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._event.set)

    async def until(self, ready: Callable[[], bool]) -> None:
        """`ready` is looked at again after each set()."""
        while True:
            self._event.clear()
            if ready():
                return
            await self._event.wait()

    async def once(self) -> None:
        """Waits for a set() since the last wait."""
        await self._event.wait()
        self._event.clear()
