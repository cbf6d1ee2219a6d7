"""Conversations that an async function plays (docs/episodes.md)."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import ctypes
import dataclasses
import itertools
import json
import weakref
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Mapping, Sequence

from evalcore import errors
from evalcore._abi import lib
from evalcore._native import Handle, call, error_from, events, make, read, take_text, text
from evalcore._watch import Signal, Watch
from evalcore.backend import Backend, opened
from evalcore.options import EpisodesOptions, Path, made
from evalcore.request import Messages, Reply, Request, as_request, native, reply_from

if TYPE_CHECKING:
    from typing_extensions import Unpack

DRAINED, REPLIED, STOPPED, DIVERGED, FINISHED = 4, 8, 9, 10, 11


class EpisodeStopped(errors.EvalcoreError):
    """There will be no further turn. why: "turns", "tokens", "time", "cost", "context" or "errored"; then __cause__ is
    what became of the request. What plays the episode may catch it and return an outcome all the same."""

    code = "stopped"

    def __init__(self, why: str) -> None:
        super().__init__(f"the episode was stopped: {why}", detail=why)
        self.why = why

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.why,))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How an episode ended. value: what was returned by what played it. finished_before: another time, and nothing was
    played now."""

    value: Any
    finished_before: bool


@dataclasses.dataclass(frozen=True)
class _Event:
    kind: int
    told: Mapping[str, Any]
    reply: Reply | None
    error: errors.EvalcoreError | None


class Episode:
    """One conversation, for what plays it.

    turn: how many replies it had. reused: the last one came from the store. diverged: its requests are not those of
    another time, and the stored turns that followed are gone.
    """

    def __init__(self, owner: Episodes, identifier: str, epoch: int) -> None:
        self.id = identifier
        self.epoch = epoch
        self.turn = 0
        self.reused = False
        self.diverged = False
        self._owner = owner
        self._number = 0
        self._events: collections.deque[_Event] = collections.deque()
        self._signal = Signal()

    async def next(self, turns: Sequence[Mapping[str, Any]] | str) -> Reply:
        """Goes on with turns that follow the last reply, which stays as it is: what a user says, or the results of its
        calls (role "tool", with tool_call_id). Errors: EpisodeStopped."""
        with self._owner._handle as address, native(Request(turns)) as asked:
            call(lib.evc_episodes_next, address, self._number, asked)
        return await self._reply()

    async def next_whole(self, request: Request | Messages, **params: Any) -> Reply:
        """Goes on with a whole request, for what edits its history."""
        with self._owner._handle as address, native(as_request(request, params)) as asked:
            call(lib.evc_episodes_next_whole, address, self._number, asked)
        return await self._reply()

    def add_cost(self, cost: float) -> None:
        """Adds to what the episode has cost, in a unit of your own. Told again when it goes on another time."""
        with self._owner._handle as address:
            call(lib.evc_episodes_add_cost, address, self._number, cost)

    async def _reply(self) -> Reply:
        event = await self._event()
        assert event.reply is not None
        return event.reply

    async def _event(self) -> _Event:
        """REPLIED or FINISHED."""
        while True:
            await self._signal.until(lambda: bool(self._events))
            event = self._events.popleft()
            if event.kind == DIVERGED:
                self.diverged = True
            elif event.kind == STOPPED:
                raise EpisodeStopped(event.told["why"]) from event.error
            elif event.kind == DRAINED:
                raise event.error or errors.ClosedError("the episodes have ended", detail="drained")
            else:
                self.turn = event.told.get("turn", self.turn)
                self.reused = bool(event.told.get("reused"))
                return event


Play = Callable[[Episode, Reply], Awaitable[Any]]


class Episodes:
    """Conversations whose next request depends on the last reply; as many at once as the pool allows.

    store: a file, for these episodes alone meanwhile. Each reply is in it before it is handed out; another time the
    same calls meet the same replies, and nothing is sent for what the store has. suite: a name, with a version or a
    hash of all that a reply depends on and no request shows. Errors: BusyError (another has the store), StorageError.

    One event loop. The end of the block cancels what is out; what is done is in the store.
    """

    def __init__(
        self, backends: Backend | Sequence[Backend], *, store: Path, suite: str, **options: Unpack[EpisodesOptions]
    ) -> None:
        settings = {"suite": suite, **options}
        with opened(backends) as (owner, endpoints, count), made("episodes", settings) as how:
            address = make(lib.evc_episodes_open, owner, endpoints, count, text(store), how)
        self._handle = Handle(address, lib.evc_episodes_free, lib.evc_episodes_wake)
        self._descriptor: int = lib.evc_episodes_event_fd(address)
        self._watch = Watch(self._drain)
        self._playing: dict[int, Episode] = {}
        self._tags = itertools.count(1)
        weakref.finalize(self, self._handle.close)

    async def play(self, identifier: str, first: Request | Messages, play: Play, *, epoch: int = 0) -> Outcome:
        """Plays one episode to its end: asks `first`, awaits `play(episode, reply)`, and keeps what that returns, which
        JSON must have a place for. Where it was ended another time, nothing is played.

        If `play` raises, or the task is cancelled, the episode is given up, and played again another time. Errors:
        those of `play`, EpisodeStopped among them; InvalidArgumentError (it is under way already).
        """
        episode = Episode(self, identifier, epoch)
        tag = next(self._tags)
        number = ctypes.c_uint64()
        self._playing[tag] = episode
        try:
            with self._handle as address, native(as_request(first, {})) as asked:
                call(lib.evc_episodes_begin, address, text(identifier), epoch, asked, tag, ctypes.byref(number))
            episode._number = number.value
            with self._watch.during(self._descriptor):
                return await self._played(episode, play)
        finally:
            del self._playing[tag]

    async def _played(self, episode: Episode, play: Play) -> Outcome:
        try:
            event = await episode._event()
            if event.kind == FINISHED:
                return Outcome(event.told.get("outcome"), True)
            assert event.reply is not None
            value = await play(episode, event.reply)
            with self._handle as address:
                call(lib.evc_episodes_end, address, episode._number, text(json.dumps(value)))
            return Outcome(value, False)
        except BaseException:
            with contextlib.suppress(errors.EvalcoreError), self._handle as address:
                call(lib.evc_episodes_cancel, address, episode._number)
            raise

    def finish(self) -> dict[str, Any]:
        """Cancels what is out and closes the run in the store: {episodes, ended, finished_before, left, sent, retried,
        replies, reused, diverged, …}; what is not known is None. Once, the last call but close()."""
        with self._handle as address:
            return dict(json.loads(take_text(make(lib.evc_episodes_finish, address))))

    def close(self) -> None:
        self._handle.close()

    async def __aenter__(self) -> Episodes:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def _drain(self) -> None:
        for event in events(self._handle, lib.evc_episodes_poll):
            self._dispatch(event)

    def _dispatch(self, event: int) -> None:
        kind, tag = lib.evc_event_kind(event), lib.evc_event_tag(event)
        told, reply, error = read(lib.evc_event_json(event)), lib.evc_event_reply(event), lib.evc_event_error(event)
        taken = _Event(
            kind,
            json.loads(told) if told else {},
            reply_from(reply) if reply else None,
            error_from(error) if error else None,
        )
        # After a failure of the store DRAINED is the last of all.
        concerned = list(self._playing.values()) if kind == DRAINED else [self._playing.get(tag)]
        for episode in concerned:
            if episode is not None and kind in (DRAINED, REPLIED, STOPPED, DIVERGED, FINISHED):
                episode._events.append(taken)
                episode._signal.set()
