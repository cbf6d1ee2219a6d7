"""A model runtime of native code in this process, many requests at once (docs/engine.md)."""

from __future__ import annotations

import codecs
import collections
import ctypes
import dataclasses
import itertools
import json
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, cast

from evalcore import errors
from evalcore._abi import lib
from evalcore._native import TIMEOUT, Handle, call, check, error_from, make, raw, read, text, tokens
from evalcore._queue import Queue
from evalcore._runtime import interruptible
from evalcore.options import EngineOptions, Path, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

TOKEN, PROGRESS, END = 1, 2, 3


@dataclasses.dataclass(frozen=True)
class Token:
    """A token of the answer. text may be empty, where its last character is not whole yet. logprob and top
    ([{token, logprob}]): natural logarithms, None unless they were asked for."""

    token: int
    text: str
    logprob: Optional[float]
    top: Optional[Sequence[Mapping[str, Any]]]


@dataclasses.dataclass(frozen=True)
class Phase:
    """How far the request has come: kind, phase ("prefill", "decode", …), elapsed_s, … (docs/engine.md)."""

    figures: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Completion:
    """The whole answer. info: {finish_reason, usage, execution, performance, …}, of continuations also scores:
    [{sum_logprob, is_greedy}]."""

    text: str
    info: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Prompt:
    """What is asked of an engine.

    prompt: text, token ids, or turns as OpenAI's chat API has them, for the engine's template.
    special: text is as a chat template writes it, with special tokens spelled out. max_tokens: None is as many as the context holds. temperature 0 is greedy. top_k 0: all. seed None: the engine
    draws one. controls: min_p, repetition_penalty, presence_penalty, frequency_penalty, logit_bias. logprobs: so many
    likely tokens beside each. continuations: nothing is generated, each is scored as if it followed. cache: scope and
    key; requests of the same lend each other what they computed, at cuts (tokens of the prompt). phases: Phase events.
    """

    prompt: Union[str, Sequence[int], Sequence[Mapping[str, Any]]]
    special: bool = True
    max_tokens: Optional[int] = None
    temperature: Optional[float] = None
    top_p: Optional[float] = None
    top_k: Optional[int] = None
    seed: Optional[int] = None
    controls: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    stop: Sequence[str] = ()
    logprobs: Optional[int] = None
    continuations: Sequence[Sequence[int]] = ()
    cache: Optional[Tuple[str, str]] = None
    cuts: Sequence[int] = ()
    phases: bool = False


class Generation:
    """An answer that is on its way. Iterate over it for its Token and Phase events; result() is the whole. Any thread,
    but one reads its events."""

    def __init__(self, engine: Engine) -> None:
        self.ticket = 0
        self._engine = engine
        self._events: collections.deque[Token | Phase] = collections.deque()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: List[str] = []
        self._info: Mapping[str, Any] = {}
        self._error: errors.EvalcoreError | None = None
        self._done = False

    def done(self) -> bool:
        return self._done

    def cancel(self) -> None:
        """It ends with CancelledError, unless it has ended."""
        with self._engine._handle as address:
            lib.evc_engine_cancel(address, self.ticket)

    def result(self, timeout: float | None = None) -> Completion:
        """Waits for the answer, `timeout` seconds at most. Errors: what became of the request; TimeoutError."""
        if not self._engine._queue.wait(self.done, timeout):
            raise TimeoutError(f"no answer within {timeout} s")
        if self._error is not None:
            raise self._error
        return Completion("".join(self._text), self._info)

    def __iter__(self) -> Iterator[Token | Phase]:
        while True:
            self._engine._queue.wait(lambda: bool(self._events) or self._done)
            if self._events:
                yield self._events.popleft()
            elif self._error is not None:
                raise self._error
            else:
                return

    def _take(self, kind: int, event: int) -> None:
        text = self._decoder.decode(raw(lib.evc_engine_event_text(event)), kind == END)
        if text:
            self._text.append(text)
        given = read(lib.evc_engine_event_json(event))
        told = json.loads(given) if given else {}
        if kind == TOKEN:
            token = lib.evc_engine_event_token(event)
            self._events.append(Token(token, text, told.get("logprob"), told.get("top")))
        elif kind == PROGRESS:
            self._events.append(Phase(told))
        elif kind == END:
            error = lib.evc_engine_event_error(event)
            self._error = error_from(error) if error else None
            self._info = told
            self._done = True


class Engine:
    """Runs a runtime that a native module gives as an evc_step_engine_table (evalcore/c/step_engine.h).

    table, context: their addresses. The table is copied, the context handed over: the table's `destroy` is called for
    it on a thread of the engine's. It blocks until the runtime has started; a model may take minutes to load. Errors:
    InvalidArgumentError, and what the runtime fails with. For a GGUF model there is Engine.open().

    Any thread. close(), or the end of the block, cancels what runs and waits for `destroy`. Read events as they come: a
    request that holds more than output_queue_size of them ends with CancelledError ("stream_backpressure").
    """

    def __init__(self, table: int, context: int = 0, **options: Unpack[EngineOptions]) -> None:
        self._start(options, lambda settings: make(lib.evc_engine_new_table, table, context, settings))

    @classmethod
    def open(cls, model: Path, **options: Unpack[EngineOptions]) -> Engine:
        """The same on a GGUF model. Suites and pools rather take a Backend("embedded", …). Errors besides: NotFoundError,
        UnsupportedError (also in a build without llama.cpp), NoMemoryError."""
        made_so = cls.__new__(cls)
        made_so._start(options, lambda settings: make(lib.evc_engine_open, text(model), settings))
        return made_so

    def _start(self, options: EngineOptions, begin: Callable[[int], int]) -> None:
        def start() -> int:
            with made("engine", options) as settings:
                return begin(settings)

        self._handle = Handle(interruptible(start), lib.evc_engine_free, lib.evc_engine_wake)
        self._queue: Queue[Generation] = Queue(self._handle, self._read)
        self._pending: dict[int, Generation] = {}
        self._tags = itertools.count(1)
        weakref.finalize(self, self._handle.close)

    def submit(self, prompt: Prompt | str | Sequence[int] | Sequence[Mapping[str, Any]], **how: Any) -> Generation:
        """Asks and does not wait. `how`: the other members of a Prompt.

        Errors: OverloadedError (more wait than max_queue_size), InvalidArgumentError, InvalidRequestError, ClosedError.
        """
        asked = dataclasses.replace(prompt, **how) if isinstance(prompt, Prompt) else Prompt(prompt, **how)
        generation = Generation(self)
        tag = next(self._tags)
        ticket = ctypes.c_uint64()
        request = lib.evc_engine_request_new()
        self._pending[tag] = generation
        try:
            _fill(request, asked)
            with self._handle as address:
                call(lib.evc_engine_submit, address, request, tag, ctypes.byref(ticket))
        except BaseException:
            del self._pending[tag]
            raise
        finally:
            lib.evc_engine_request_free(request)
        generation.ticket = ticket.value
        return generation

    def close(self) -> None:
        """Again: nothing."""
        self._handle.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, address: int, timeout_ms: int) -> tuple[int, list[Generation]]:
        event = ctypes.c_void_p()
        status = lib.evc_engine_poll(address, timeout_ms, ctypes.byref(event))
        if status == TIMEOUT:
            return 0, []
        check(status, "a poll")
        try:
            kind, tag = lib.evc_engine_event_kind(event), lib.evc_engine_event_tag(event)
            generation = self._pending.pop(tag) if kind == END else self._pending[tag]
            generation._take(kind, event.value or 0)
            return 1, [generation] if kind == END else []
        finally:
            lib.evc_engine_event_free(event)


def _fill(request: int, asked: Prompt) -> None:
    if isinstance(asked.prompt, str):
        check(lib.evc_engine_request_set_prompt(request, text(asked.prompt), int(asked.special)), "the prompt")
    elif asked.prompt and isinstance(asked.prompt[0], Mapping):
        call(lib.evc_engine_request_set_messages, request, text(json.dumps(list(asked.prompt))))
    else:
        ids = cast(Sequence[int], asked.prompt)
        check(lib.evc_engine_request_set_prompt_tokens(request, tokens(list(ids))), "the prompt")
    for name in ("max_tokens", "temperature", "top_p", "top_k", "seed", "logprobs"):
        value = getattr(asked, name)
        if value is not None:
            check(getattr(lib, f"evc_engine_request_set_{name}")(request, value), f"{name}={value!r}")
    if asked.controls:
        call(lib.evc_engine_request_set_controls, request, text(json.dumps(asked.controls)))
    for stop in asked.stop:
        check(lib.evc_engine_request_add_stop(request, text(stop)), f"stop {stop!r}")
    for continuation in asked.continuations:
        check(lib.evc_engine_request_add_continuation(request, tokens(list(continuation))), "a continuation")
    if asked.cache is not None:
        check(lib.evc_engine_request_set_cache(request, *map(text, asked.cache)), f"cache={asked.cache!r}")
    for cut in asked.cuts:
        check(lib.evc_engine_request_add_cache_cut(request, cut), f"a cut after {cut}")
    if asked.phases:
        check(lib.evc_engine_request_set_progress(request, 1), "phases")
