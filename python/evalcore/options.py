"""Options by keyword. Each is named after the option of the `evalcore` command, and what is not given keeps the
default of the library; the headers have units and ranges (evalcore/c/backend.h, pool_options.h, run_options.h).
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Callable, Iterator, List, Mapping, Tuple, TypedDict, Union

from evalcore._abi import FUNCTIONS, lib
from evalcore._native import call, check, read, text

Path = Union[str, "os.PathLike[str]"]


class BackendOptions(TypedDict, total=False):
    """How a backend is reached or started. Times in seconds; 0 is none."""

    model: Path
    base_url: str
    dialect: str
    api: str
    anthropic_version: str
    api_key_env: str
    api_key_file: Path
    api_key_command: str
    api_key_header: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    ca_file: Path
    tls_server_name: str
    insecure: bool
    stream: bool
    slots: int
    context_per_slot: int
    threads: int
    evaluation: str
    verdict_folder: Path
    cache_max_bytes: int
    server_program: Path
    port: int
    backend_args: List[str]
    share_prefix: bool
    ready_timeout_s: int
    script: Path
    connect_timeout_s: float
    first_byte_timeout_s: float
    idle_timeout_s: float
    attempt_timeout_s: float


class PoolOptions(TypedDict, total=False):
    """How requests go out. Times in seconds."""

    concurrency: int
    auto_concurrency: int
    retries: int
    max_wait_s: float
    max_outage_s: float
    max_errors: int
    requests_per_minute: int
    tokens_per_minute: int
    rate: float
    item_timeout_s: float
    time_limit_s: float
    max_outstanding: int


class EngineOptions(TypedDict, total=False):
    """How an engine admits and runs requests (evalcore/c/engine_request.h)."""

    max_batch_size: int
    max_queue_size: int
    batch_wait_ms: int
    queue_timeout_s: float
    output_queue_size: int
    per_row_sampling: bool
    cache_max_bytes: int
    cache_max_snapshots: int
    context_tokens: int
    threads: int
    evaluation: str
    verdict_folder: Path


class EpisodesOptions(TypedDict, total=False):
    """Limits of one episode, and how requests go out. Times in seconds; cost in a unit of your own."""

    pool: PoolOptions
    max_turns: int
    max_tokens: int
    max_time_s: float
    max_cost: float


class RunOptions(TypedDict, total=False):
    """How a suite is run."""

    store: Path
    task: str
    order: str
    limit: int
    shard: Tuple[int, int]
    pool: PoolOptions
    params: Mapping[str, Any]
    tools: str
    prompt_cache: bool
    cache: Path
    cache_sampled: bool
    price: Path
    max_cost: float
    noise_floor: int
    probe: bool
    model_name: str
    model_step: int
    baseline: bool
    host_scorer: str


class ScoreOptions(TypedDict, total=False):
    """How replies are scored (evalcore/c/score.h)."""

    scorer: str
    limit: int


class GateOptions(TypedDict, total=False):
    """What a gate is to show (evalcore/c/gate.h)."""

    margin: float
    alpha: float
    power: float
    suite: Path
    answers: Path


class GateRowsOptions(TypedDict, total=False):
    """What a metric may lose, in percentage points (evalcore/c/gate.h)."""

    spec: Mapping[str, Any]
    threshold: float
    passes: int
    budget: Mapping[str, Any]


class PowerOptions(TypedDict, total=False):
    """A gate that is planned (evalcore/c/power.h)."""

    margin: float
    alpha: float
    power: float
    difference: float
    differing: float
    spread: float
    items: int
    looks: int


# Options that are given all at once here, and one by one there.
MANY = {"headers": "header", "query": "query", "backend_args": "backend_arg"}


def _apply(kind: str, handle: int, name: str, value: Any) -> None:
    def accepted(status: int, what: str) -> None:
        check(status, what, read(getattr(lib, f"evc_{kind}_options_refusal")(handle)) if status else "")

    if name in MANY:
        add = getattr(lib, f"evc_{kind}_options_add_{MANY[name]}")
        # A text is one word, as a caller has it who knows words alone, and not its letters.
        words = [value] if isinstance(value, str) else value
        for one in value.items() if isinstance(value, Mapping) else [(word,) for word in words]:
            accepted(add(handle, *map(text, one)), f"{name}: {one[0]!r}")
        return
    function = f"evc_{kind}_options_set_{name}"
    if function not in FUNCTIONS:
        raise TypeError(f"unknown option {name!r}")
    put: Callable[..., int] = getattr(lib, function)
    kinds = FUNCTIONS[function][1]
    if kinds[-1] == "handles":
        call(put, handle, text(json.dumps(value)))
    elif kinds[-1] == "handle":
        with made(name, value) as inner:
            accepted(put(handle, inner), name)
    elif kinds[-1] == "str":
        accepted(put(handle, text(value)), f"{name}={value!r}")
    elif len(kinds) == 3:
        accepted(put(handle, *value), f"{name}={value!r}")
    else:
        if kinds[-1] != "f64" and not isinstance(value, int):
            raise TypeError(f"{name} is a whole number, not {value!r}")
        accepted(put(handle, _in_range(name, value, kinds[-1])), f"{name}={value!r}")


def _in_range(name: str, value: Any, kind: str) -> Any:
    # ctypes would cut what is too large to its lowest bits without a word.
    bounds = {"u16": (0, 1 << 16), "u32": (0, 1 << 32), "u64": (0, 1 << 64), "i32": (0, 2)}
    low, high = bounds.get(kind, (value, value + 1))
    check(0 if low <= value < high else -1, f"{name}={value!r}")
    return value


@contextlib.contextmanager
def made(kind: str, given: Mapping[str, Any]) -> Iterator[int]:
    """Options of C as long as the block lasts. TypeError: no such option; InvalidArgumentError: not such a value."""
    handle = getattr(lib, f"evc_{kind}_options_new")()
    try:
        for name, value in given.items():
            if value is not None:
                _apply(kind, handle, name, value)
        yield handle
    finally:
        getattr(lib, f"evc_{kind}_options_free")(handle)
