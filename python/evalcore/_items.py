"""Items of any iterable as the lines of a suite (docs/suite.md)."""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Union

Items = Union[str, "os.PathLike[str]", Iterable[Mapping[str, Any]]]

# Where tables fill what a row lacks with null, and a null of its own has no meaning.
FILLED = ("messages", "params")


def _records(items: Any) -> Iterator[Mapping[str, Any]]:
    """Rows as mappings. By their methods, so that neither pandas nor Arrow must be there."""
    if hasattr(items, "to_pylist"):  # an Arrow table, or a batch of one
        return iter(items.to_pylist())
    if hasattr(items, "iterrows"):  # a data frame of pandas
        return iter(items.to_dict("records"))
    if hasattr(items, "iter_rows"):  # one of Polars
        return iter(items.iter_rows(named=True))
    if isinstance(items, Mapping):
        raise TypeError("items are an iterable of mappings, not one mapping")
    return iter(items)


def _plain(value: Any) -> Any:
    """What json cannot write: arrays, and numbers that are not Python's own."""
    for method in ("tolist", "as_py", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"an item has a {type(value).__name__}, which JSON has no place for")


# Most of what an item holds. To tell anything else takes longer than to write it.
SIMPLE = frozenset((str, int, float, bool, type(None)))
ENCODER = json.JSONEncoder(default=_plain, allow_nan=False)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _without_missing(value: Any) -> Any:
    if type(value) in SIMPLE:
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _without_missing(one) for name, one in value.items() if not _missing(one)}
    if isinstance(value, (list, tuple)):
        return [_without_missing(one) for one in value]
    return value


def line(item: Mapping[str, Any], number: int) -> str:
    """One item as JSON. An `id` is given to those that have none: their number, from 0."""
    if not isinstance(item, Mapping):
        raise TypeError(f"item {number} is a {type(item).__name__}, not a mapping")
    kept = {name: value for name, value in item.items() if not _missing(value)}
    for name in FILLED:
        if name in kept:
            kept[name] = _without_missing(kept[name])
    kept.setdefault("id", number)
    return ENCODER.encode(kept)


def lines(items: Items) -> Iterator[str]:
    """The lines of the suite, with their ends. Errors: TypeError, ValueError (a NaN)."""
    for number, item in enumerate(_records(items)):
        yield line(item, number) + "\n"


def write(items: Items, path: pathlib.Path) -> None:
    """The suite's file, whole or not at all. Errors: TypeError, ValueError (a NaN), OSError."""
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines(items))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def is_path(items: Any) -> bool:
    return isinstance(items, (str, os.PathLike))
