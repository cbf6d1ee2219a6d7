"""Rows of tables become lines of a suite."""

import json

import pytest

from evalcore import _items


class Array:
    """As numpy's and Arrow's arrays and numbers give themselves to Python."""

    def __init__(self, value):
        self.value = value

    def tolist(self):
        return self.value


class Table:
    def to_pylist(self):
        return [{"id": 1, "prompt": "a", "choices": Array([" x", " y"]), "target": Array(1)}]


class Frame:
    def iterrows(self):
        raise AssertionError("rows as mappings are asked for at once")

    def to_dict(self, orient):
        assert orient == "records"
        return [{"id": "q", "prompt": "a", "target": float("nan"), "category": None}]


def written(items, tmp_path):
    path = tmp_path / "items.jsonl"
    _items.write(items, path)
    assert [one.name for one in tmp_path.iterdir()] == ["items.jsonl"]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_tables_give_their_rows(tmp_path):
    assert written(Table(), tmp_path) == [{"id": 1, "prompt": "a", "choices": [" x", " y"], "target": 1}]
    assert written(Frame(), tmp_path) == [{"id": "q", "prompt": "a"}]


def test_what_a_table_fills_with_null_is_left_out(tmp_path):
    turns = [{"role": "user", "content": "a\n\u2028ü", "tool_calls": None}]
    schema = {"name": "f", "parameters": {"properties": {"x": {"enum": [1, None]}}}}
    item = {"messages": Array(turns), "tools": [schema], "params": {"seed": None, "temperature": 0}, "category": None}
    kept = [{"role": "user", "content": "a\n\u2028ü"}]
    assert written(iter([item]), tmp_path) == [
        {"id": 0, "messages": kept, "tools": [schema], "params": {"temperature": 0}}
    ]


@pytest.mark.parametrize("wrong", [{"id": 1}, [1], [{"target": object()}], [{"metadata": {"x": float("nan")}}]])
def test_what_is_no_item_is_refused_and_nothing_is_left(wrong, tmp_path):
    with pytest.raises((TypeError, ValueError)):
        _items.write(wrong, tmp_path / "items.jsonl")
    assert list(tmp_path.iterdir()) == []
