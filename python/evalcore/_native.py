"""Texts, errors and handles of the C ABI as Python has them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from typing import Any, Callable, Iterator

from evalcore import errors
from evalcore._abi import InStr, OutStr, Tokens, lib

TIMEOUT, CLOSED = -23, -5


def text(value: str | bytes | os.PathLike[str]) -> InStr:
    """A text or a path as an argument, UTF-8 whatever the locale. UnicodeEncodeError: half a surrogate pair."""
    given = value if isinstance(value, bytes) else os.fspath(value)
    # Names of files that Python could not decode keep their bytes so, and the library judges them.
    encoded = given.encode("utf-8", "surrogateescape") if isinstance(given, str) else given
    return InStr(encoded, len(encoded))


def raw(given: OutStr) -> bytes:
    """A copy of bytes that are borrowed."""
    return ctypes.string_at(given.data, given.size) if given.size else b""


def read(given: OutStr) -> str:
    """A copy of a text that is borrowed."""
    return raw(given).decode("utf-8", "replace")


def tokens(ids: list[int]) -> Tokens:
    array = (ctypes.c_int32 * len(ids))(*ids)
    return Tokens(array, len(ids))


def take_text(address: int) -> str:
    """What an evc_text says; it is freed."""
    try:
        return read(lib.evc_text_view(address))
    finally:
        lib.evc_text_free(address)


def error_from(address: int | None, status: int | None = None) -> errors.EvalcoreError:
    """The exception for an evc_error, which is not freed."""
    status = lib.evc_error_status(address) if address else status
    kind = errors.BY_STATUS.get(status or 0, errors.InternalError)
    return kind(
        read(lib.evc_error_message(address)) or str(kind.__doc__),
        detail=read(lib.evc_error_detail(address)),
        stage=read(lib.evc_error_stage(address)),
        retryable=bool(lib.evc_error_is_retryable(address)),
        http_status=lib.evc_error_http_status(address) or None,
        backend_words=read(lib.evc_error_backend_words(address)),
    )


def check(status: int, what: str, why: str = "") -> None:
    """Raises for the status of a function that gives no error with it."""
    if status != 0:
        raise errors.BY_STATUS.get(status, errors.InternalError)(f"{what} is refused" + (why and f": {why}"))


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last argument gets an error."""
    error = ctypes.c_void_p()
    status = function(*arguments, ctypes.byref(error))
    if status != 0:
        try:
            raise error_from(error.value, status)
        finally:
            lib.evc_error_free(error)


def make(function: Callable[..., int], *arguments: Any) -> int:
    """Calls a function whose last two arguments get what it made and an error."""
    out = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(out))
    assert out.value is not None
    return out.value


class Handle:
    """A handle that any thread may use, and that is freed once no call with it is under way.

    `with handle as address` is a call. `wake` makes a call that waits return. Any thread.
    """

    def __init__(self, address: int, free: Callable[[int], None], wake: Callable[[int], Any] | None = None) -> None:
        self._address: int | None = address
        self._free = free
        self._wake = wake
        self._uses = 0
        self._idle = threading.Condition()

    def __enter__(self) -> int:
        with self._idle:
            if self._address is None:
                raise errors.ClosedError("it was closed", detail="closed")
            self._uses += 1
            return self._address

    def __exit__(self, *_: object) -> None:
        with self._idle:
            self._uses -= 1
            if self._uses == 0:
                self._idle.notify_all()

    @property
    def closed(self) -> bool:
        return self._address is None

    def close(self) -> None:
        """Waits for the calls that are under way, and frees. Again: nothing."""
        with self._idle:
            address, self._address = self._address, None
            while address and self._uses:
                if self._wake:
                    self._wake(address)
                self._idle.wait(0.05)
        if address:
            self._free(address)


def events(handle: Handle, poll: Callable[..., int]) -> Iterator[int]:
    """The events that wait in a queue, each good until the next; to be taken to their end."""
    with contextlib.suppress(errors.ClosedError), handle as address:
        while True:
            event = ctypes.c_void_p()
            status = poll(address, 0, ctypes.byref(event))
            if status in (TIMEOUT, CLOSED):
                return
            check(status, "a poll")
            assert event.value is not None
            try:
                yield event.value
            finally:
                lib.evc_event_free(event)
