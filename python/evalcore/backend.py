"""Who answers requests."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Sequence

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
        self._runtime = runtime()
        self._handle = Handle(interruptible(lambda: self._open(selector, options)), lib.evc_backend_free)
        weakref.finalize(self, self._handle.close)

    def _open(self, selector: str, options: Any) -> int:
        with self._runtime.handle as owner, made("backend", options) as settings:
            return make(lib.evc_backend_open, owner, text(selector), settings)

    @classmethod
    async def open(cls, selector: str, **options: Unpack[BackendOptions]) -> Backend:
        """The same without blocking the event loop."""
        return await asyncio.get_running_loop().run_in_executor(None, lambda: cls(selector, **options))

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
