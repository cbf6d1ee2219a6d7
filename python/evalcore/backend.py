"""Who answers requests."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import threading
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from evalcore._abi import lib
from evalcore._native import Handle, make, take_text, text
from evalcore._runtime import interruptible, runtime
from evalcore.options import BackendOptions, made

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Backend:
    """A model that is reached or started: `Backend("openai-url", base_url=…)`, `Backend("embedded", model=…)`.

    `selector` is a name that `evalcore backends` lists. It blocks until the backend is ready, which may take
    minutes; Ctrl-C ends the wait. Errors: InvalidArgumentError, NotFoundError, TransportError, DeadlineError,
    AuthError, BackendFaultError.

    Any thread. What uses it may outlive it: a server that evalcore started ends with the last of both.
    """

    def __init__(self, selector: str, **options: Unpack[BackendOptions]) -> None:
        opening = _Opening(selector, options)
        self._take(interruptible(opening.run, opening.give_up))

    @classmethod
    async def open(cls, selector: str, **options: Unpack[BackendOptions]) -> Backend:
        """The same without blocking the event loop. Cancelling the task ends the wait, and no other."""
        opening = _Opening(selector, options)
        running = asyncio.get_running_loop().run_in_executor(None, opening.run)
        try:
            address = await asyncio.shield(running)
        except asyncio.CancelledError:
            opening.give_up()
            raise
        self = cls.__new__(cls)
        self._take(address)
        return self

    def _take(self, address: int) -> None:
        self._runtime = runtime()
        self._handle = Handle(address, lib.evc_backend_free)
        weakref.finalize(self, self._handle.close)

    @property
    def info(self) -> dict[str, Any]:
        """{selector, dialect, model, sent_model, address, slots, context_per_slot, identity, notes, capabilities}; what
        is not known is None. sent_model: the model's name in requests to a server; address: where that listens."""
        with self._handle as address:
            return dict(json.loads(take_text(make(lib.evc_backend_info, address))))

    def close(self) -> None:
        """Pools and runs that use it go on. Again: nothing."""
        self._handle.close()

    def __enter__(self) -> Backend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Opening:
    """One wait for a backend, in native code, that another thread can end."""

    def __init__(self, selector: str, options: Mapping[str, Any]) -> None:
        self._selector = selector
        self._kept = contextlib.ExitStack()
        self._settings = self._kept.enter_context(made("backend", options))
        self._lock = threading.Lock()
        self._address: int | None = None
        self._over = self._given_up = False

    def run(self) -> int:
        """Waits, once. Errors: those of the opening."""
        address: int | None = None
        try:
            with runtime().handle as owner:
                address = make(lib.evc_backend_open, owner, text(self._selector), self._settings)
            return address
        finally:
            with self._lock:
                self._over = True
                self._kept.close()
                self._address = address
                if self._given_up:
                    self._free()

    def give_up(self) -> None:
        """The wait ends soon, and what it opens is closed. Nobody may take it any more."""
        with self._lock:
            self._given_up = True
            if not self._over:
                lib.evc_backend_options_cancel_open(self._settings)
            self._free()

    def _free(self) -> None:
        if self._address is not None:
            lib.evc_backend_free(self._address)
            self._address = None


@contextlib.contextmanager
def opened(backends: Backend | Sequence[Backend]) -> Iterator[tuple[int, ctypes.Array[ctypes.c_void_p], int]]:
    """The runtime, and one backend or several as an array and its size, for one call."""
    several = [backends] if isinstance(backends, Backend) else list(backends)
    if not several:
        raise ValueError("no backend is given")
    with contextlib.ExitStack() as calls:
        addresses = [calls.enter_context(one._handle) for one in several]
        owner = calls.enter_context(several[0]._runtime.handle)
        yield owner, (ctypes.c_void_p * len(addresses))(*addresses), len(addresses)
