"""What is asked of a backend, and what it answers."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Union

from evalcore import _native
from evalcore._abi import lib
from evalcore._native import call, read, text, tokens

USER = 3
Messages = Union[str, Sequence[Mapping[str, Any]]]
Tokens = Sequence[int]


@dataclasses.dataclass(frozen=True)
class Request:
    """Turns to be answered, or continuations of a context to be scored.

    messages: one user turn as text, or turns as OpenAI's chat API has them. tools: as there, or the bare
    functions. params: temperature, top_p, top_k, max_tokens, seed, stop, tool_choice, response_format, logprobs,
    top_logprobs, reasoning_effort, … as there; what is left open is the backend's default, and many then sample.
    cache_key: requests of one key share the beginning of their prompts. context, continuations: all text or all
    token ids; nothing is generated.
    """

    messages: Messages = ()
    tools: Optional[Sequence[Mapping[str, Any]]] = None
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    model: Optional[str] = None
    cache_key: Optional[str] = None
    context: Union[str, Tokens, None] = None
    continuations: Sequence[Union[str, Tokens]] = ()


@dataclasses.dataclass(frozen=True)
class Score:
    """How likely a continuation is: natural logarithms, None where the backend does not tell."""

    sum_logprob: Optional[float]
    is_greedy: Optional[bool]


@dataclasses.dataclass(frozen=True)
class Reply:
    """A whole answer. Counts and seconds that are not known are None.

    tool_calls: as OpenAI's chat API has them. finish_reason: "stop", "length", "tool_calls", "content_filter" or
    "other". usage: prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cache_write_tokens. timings:
    first_token_s, total_s. scores: one a continuation. raw: all of it, as docs/c-api.md has it.
    """

    text: str
    reasoning: str
    tool_calls: List[Any]
    finish_reason: str
    usage: Mapping[str, Optional[int]]
    timings: Mapping[str, Optional[float]]
    scores: List[Score]
    raw: Mapping[str, Any] = dataclasses.field(repr=False)


def reply_from(address: int) -> Reply:
    """A copy of an evc_reply."""
    raw = json.loads(read(lib.evc_reply_json(address)))
    return Reply(
        text=raw.get("text") or "",
        reasoning=raw.get("reasoning") or "",
        tool_calls=raw.get("tool_calls") or [],
        finish_reason=raw.get("finish_reason") or "other",
        usage=raw.get("usage") or {},
        timings=raw.get("timings") or {},
        scores=[Score(one.get("sum_logprob"), one.get("is_greedy")) for one in raw.get("scores") or []],
        raw=raw,
    )


def _fill(handle: int, request: Request, stream: bool) -> None:
    def check(status: int, what: str) -> None:
        _native.check(status, what, read(lib.evc_request_refusal(handle)) if status else "")

    if isinstance(request.messages, str):
        check(lib.evc_request_add_message(handle, USER, text(request.messages)), "the message")
    elif request.messages:
        call(lib.evc_request_add_messages, handle, text(json.dumps(list(request.messages))))
    if request.tools is not None:
        call(lib.evc_request_set_tools, handle, text(json.dumps(list(request.tools))))
    params = {name: value for name, value in request.params.items() if value is not None}
    if params:
        call(lib.evc_request_set_params, handle, text(json.dumps(params)))
    if request.model is not None:
        check(lib.evc_request_set_model(handle, text(request.model)), "the model's name")
    if request.cache_key is not None:
        check(lib.evc_request_set_cache_key(handle, text(request.cache_key)), "the cache key")
    if stream:
        check(lib.evc_request_set_stream(handle, 1), "a stream")
    if isinstance(request.context, str):
        check(lib.evc_request_set_context(handle, text(request.context)), "the context")
    elif request.context is not None:
        check(lib.evc_request_set_context_tokens(handle, tokens(list(request.context))), "the context")
    for one in request.continuations:
        if isinstance(one, str):
            check(lib.evc_request_add_continuation(handle, text(one)), "a continuation")
        else:
            check(lib.evc_request_add_continuation_tokens(handle, tokens(list(one))), "a continuation")


@contextlib.contextmanager
def native(request: Request, stream: bool = False) -> Iterator[int]:
    """The request in C as long as the block lasts."""
    handle = lib.evc_request_new()
    try:
        _fill(handle, request, stream)
        yield handle
    finally:
        lib.evc_request_free(handle)


def as_request(asked: Request | Messages, params: Mapping[str, Any]) -> Request:
    """A request of what a caller may give in its place, with parameters on top."""
    if not isinstance(asked, Request):
        return Request(asked, params=params)
    return dataclasses.replace(asked, params={**asked.params, **params}) if params else asked
