"""Runs LLM evaluations as fast as a backend can go, without changing a score.

The native library is loaded when this is imported; ImportError says why it cannot be.
"""

from evalcore import errors
from evalcore._abi import lib as _lib
from evalcore.backend import Backend
from evalcore.engine import Completion, Engine, Generation, Phase, Prompt, Token
from evalcore.episodes import Episode, Episodes, EpisodeStopped, Outcome
from evalcore.errors import EvalcoreError
from evalcore.gates import GateResult, compare, gate, gate_rows, power
from evalcore.host_backend import HostBackend
from evalcore.options import (
    BackendOptions,
    EngineOptions,
    EpisodesOptions,
    GateOptions,
    GateRowsOptions,
    PoolOptions,
    PowerOptions,
    RunOptions,
    ScoreOptions,
)
from evalcore.pending import RESTART, Pending, Stream
from evalcore.pool import Pool
from evalcore.request import Reply, Request, Score
from evalcore.runs import Note, Progress, Run, RunResult, run, run_async, start
from evalcore.suite import ScoredReplies, plan, score

__version__: str = _lib.evc_version_string().decode()

__all__ = [
    "RESTART",
    "Backend",
    "BackendOptions",
    "Completion",
    "Engine",
    "EngineOptions",
    "Episode",
    "EpisodeStopped",
    "Episodes",
    "EpisodesOptions",
    "EvalcoreError",
    "GateOptions",
    "GateResult",
    "GateRowsOptions",
    "Generation",
    "HostBackend",
    "Note",
    "Outcome",
    "Pending",
    "Phase",
    "Pool",
    "PoolOptions",
    "PowerOptions",
    "Progress",
    "Prompt",
    "Reply",
    "Request",
    "Run",
    "RunOptions",
    "RunResult",
    "Score",
    "ScoreOptions",
    "ScoredReplies",
    "Stream",
    "Token",
    "compare",
    "errors",
    "gate",
    "gate_rows",
    "plan",
    "power",
    "run",
    "run_async",
    "score",
    "start",
]
