"""Statuses become exceptions, each with what the library says of it."""

import pickle
import re

import pytest
from conftest import REPOSITORY

import evalcore
from evalcore import errors
from evalcore._abi import lib


def statuses():
    text = (REPOSITORY / "include/evalcore/c/error.h").read_text()
    return {int(value): name.lower() for name, value in re.findall(r"EVC_E_(\w+) = (-\d+)", text)}


def test_each_status_of_the_header_has_an_exception_of_its_name():
    assert {status: kind.code for status, kind in errors.BY_STATUS.items()} == statuses()
    assert {status: lib.evc_status_name(status).decode() for status in statuses()} == statuses()


def test_the_tree_parts_what_may_succeed_later_from_what_may_not():
    for status, kind in errors.BY_STATUS.items():
        assert issubclass(kind, errors.EvalcoreError)
        assert issubclass(kind, errors.TransientError) == (-40 < status <= -20)
        assert issubclass(kind, errors.PermanentError) == (status <= -40)
    assert issubclass(errors.DeadlineError, TimeoutError)
    assert issubclass(errors.InvalidArgumentError, ValueError)


def test_an_error_travels_between_processes_whole():
    error = errors.RateLimitedError("slow down", detail="rpm", retryable=True, http_status=429, backend_words="no")
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is errors.RateLimitedError
    assert (back.message, back.detail, back.retryable, back.http_status, back.backend_words, back.code) == (
        "slow down", "rpm", True, 429, "no", "rate_limited",
    )  # fmt: skip


def test_a_refused_value_of_a_request_comes_with_the_reason(scripted):
    with evalcore.Pool(scripted({"text": "x"})) as pool:
        with pytest.raises(errors.InvalidArgumentError, match="a continuation is refused: the continuation is empty"):
            pool.submit(evalcore.Request(context="a", continuations=[""]))


def test_what_the_library_says_is_in_the_exception(tmp_path):
    with pytest.raises(errors.NotFoundError) as caught:
        evalcore.Backend("scripted", script=tmp_path / "missing.jsonl")
    assert "missing.jsonl" in caught.value.message
    assert (caught.value.code, caught.value.retryable, caught.value.http_status) == ("not_found", False, None)
    with pytest.raises(errors.InvalidArgumentError, match="no backend of that name"):
        evalcore.Backend("no-such-backend")
