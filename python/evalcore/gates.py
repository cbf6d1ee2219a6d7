"""Runs compared, candidates gated, gates planned: what `evalcore compare`, `gate` and `power` do."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

from evalcore._abi import InStr, lib
from evalcore._native import make, take_text, text
from evalcore._runtime import interruptible
from evalcore.options import GateOptions, GateRowsOptions, Path, PowerOptions, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

VERDICTS = {1: "pass", 2: "fail"}


@dataclasses.dataclass(frozen=True)
class GateResult:
    """verdict: "pass", "fail" or "inconclusive" (too few items). json: the bytes of gate-result.json as text."""

    verdict: str
    json: str = dataclasses.field(repr=False)

    @property
    def figures(self) -> Mapping[str, Any]:
        """What the result says; docs/gate.md lists the members."""
        return dict(json.loads(self.json))


def compare(*runs: Path, suite: Path | None = None, answers: Path | None = None) -> dict[str, Any]:
    """Runs of one suite, item by item, the others against the first: the object that `evalcore compare --json` prints.

    runs: stores (run.db), or the folders that hold them; two at least. suite, answers: by default where the first run
    found them. Errors: InvalidArgumentError (runs of different suites or scorers), NotFoundError, BusyError (a run has
    a store), BadSuiteError, StorageError. Blocks. Any thread.
    """
    given = _paths(runs)
    made_text = interruptible(
        lambda: make(lib.evc_compare_runs, given, len(given), text(suite or ""), text(answers or ""))
    )
    return dict(json.loads(take_text(made_text)))


def gate(
    candidate: Union[Path, Sequence[Path]], baseline: Union[Path, Sequence[Path]], **options: Unpack[GateOptions]
) -> GateResult:
    """Whether a candidate is shown to be no worse than a baseline: what `evalcore gate` does. Nothing is written.

    candidate, baseline: runs as for compare(), or as many of each as there are suites. Errors: those of compare().
    """
    candidates, baselines = _several(candidate), _several(baseline)
    if len(candidates) != len(baselines):
        raise TypeError(f"{len(candidates)} candidates, but {len(baselines)} baselines")
    runs = _paths([one for pair in zip(candidates, baselines) for one in pair])
    verdict = ctypes.c_int32()
    with made("gate", options) as settings:
        told = interruptible(lambda: make(lib.evc_gate_runs, runs, len(runs), settings, ctypes.byref(verdict)))
    return GateResult(VERDICTS.get(verdict.value, "inconclusive"), take_text(told))


def gate_rows(candidate: bytes, baseline: bytes, **options: Unpack[GateRowsOptions]) -> GateResult:
    """Whether a metric lost more than its threshold: what `evalcore gate --compat` does. Nothing is written or run.

    candidate, baseline: the bytes of files of rows. Errors: InvalidArgumentError.
    """
    verdict = ctypes.c_int32()
    with made("gate_rows", options) as settings:
        told = make(lib.evc_gate_rows, text(candidate), text(baseline), settings, ctypes.byref(verdict))
    return GateResult(VERDICTS.get(verdict.value, "inconclusive"), take_text(told))


def power(**options: Unpack[PowerOptions]) -> dict[str, Any]:
    """How many items a gate needs, and what `items` can show: the object that `evalcore power --json` prints.

    Errors: InvalidArgumentError where fewer items differ than the true difference needs.
    """
    with made("power", options) as settings:
        return dict(json.loads(take_text(make(lib.evc_power_plan, settings))))


def _several(runs: Union[Path, Sequence[Path]]) -> Sequence[Path]:
    return [runs] if isinstance(runs, (str, os.PathLike)) else runs


def _paths(runs: Sequence[Path]) -> ctypes.Array[InStr]:
    return (InStr * len(runs))(*map(text, runs))
