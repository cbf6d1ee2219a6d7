"""The one I/O thread of a process, started when it is first needed."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Callable, TypeVar

from evalcore._abi import lib
from evalcore._native import Handle, make

T = TypeVar("T")


class Runtime:
    def __init__(self) -> None:
        self.handle = Handle(make(lib.evc_runtime_new), lib.evc_runtime_free)
        # At exit, too: what is in flight then must not outlive the interpreter's threads.
        weakref.finalize(self, self.handle.close)


_lock = threading.Lock()
_current: tuple[int, Runtime] | None = None


def runtime() -> Runtime:
    """This process's runtime; a child after fork() gets one of its own, since threads do not follow."""
    global _current
    with _lock:
        if _current is None or _current[0] != os.getpid():
            _current = (os.getpid(), Runtime())
        return _current[1]


def interruptible(work: Callable[[], T], cancel: Callable[[], object] = lambda: None) -> T:
    """Does work that blocks in native code on a thread, so that Ctrl-C is heard meanwhile; `cancel` makes it end."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as why:
            failed.append(why)

    thread = threading.Thread(target=run, name="evalcore", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        cancel()
        thread.join()
        raise
    if failed:
        raise failed[0]
    return done[0]
