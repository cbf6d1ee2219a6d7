"""Requests from threads: known answers of a script, and of the tiny model."""

import gc
import threading
import time

import pytest
from conftest import MODEL

import evalcore
from evalcore import errors

CAPITALS = [
    {"match": "France", "text": "Paris", "usage": {"prompt_tokens": 7, "completion_tokens": 1}},
    {"match": "Italy", "text": "Rome ü 😀\u0000!"},
    {"match": "broken", "error": {"code": "invalid_request", "message": "no such thing"}},
    {"match": "slow", "text": "late", "delay_ms": 60_000},
    {"text": "?"},
]


def test_answers_come_to_those_who_asked(scripted):
    with scripted(*CAPITALS) as backend, evalcore.Pool(backend) as pool:
        france, italy = pool.submit("Capital of France?", temperature=0), pool.submit("… of Italy?", max_tokens=4)
        assert italy.result(10).text == "Rome ü 😀\u0000!"
        reply = france.result(10)
    assert (reply.text, reply.finish_reason, reply.usage["prompt_tokens"]) == ("Paris", "stop", 7)
    assert reply.usage["cached_tokens"] is None
    assert france.done() and france.exception() is None


def test_a_request_that_fails_raises_what_became_of_it(scripted):
    with evalcore.Pool(scripted(*CAPITALS)) as pool:
        broken = pool.submit("broken")
        with pytest.raises(errors.InvalidRequestError, match="no such thing"):
            broken.result(10)
        assert isinstance(broken.exception(), errors.PermanentError)


def test_turns_and_a_request_are_asked_as_a_text_is(scripted):
    turns = [{"role": "system", "content": "One word."}, {"role": "user", "content": "Capital of France?"}]
    with evalcore.Pool(scripted(*CAPITALS)) as pool:
        assert pool.submit(turns).result(10).text == "Paris"
        assert pool.submit(evalcore.Request(turns, params={"top_k": 3, "seed": 1}), seed=2).result(10).text == "Paris"
        with pytest.raises(errors.InvalidRequestError):
            pool.submit("Hi", temperture=0)


def test_what_is_not_waited_for_any_more_is_cancelled(scripted):
    with evalcore.Pool(scripted(*CAPITALS)) as pool:
        slow = pool.submit("slow")
        with pytest.raises(TimeoutError):
            slow.result(0.05)
        slow.cancel()
        with pytest.raises(errors.CancelledError):
            slow.result(10)


def test_the_end_of_the_block_cancels_what_is_left(scripted):
    begun = time.monotonic()
    with evalcore.Pool(scripted(*CAPITALS)) as pool:
        left = [pool.submit("slow") for _ in range(3)]
    assert time.monotonic() - begun < 5
    assert [type(one.exception()) for one in left] == [errors.CancelledError] * 3
    with pytest.raises(errors.ClosedError):
        pool.submit("France")
    pool.close()


def test_polling_by_hand_gives_what_has_ended(scripted):
    with evalcore.Pool(scripted(*CAPITALS)) as pool:
        assert pool.poll() == []
        waiting = {pool.submit("France"), pool.submit("Italy")}
        assert len({one.ticket for one in waiting}) == 2
        while waiting:
            waiting -= set(pool.poll(10))
        assert pool.poll(0.01) == []
        assert [one["answered"] for one in pool.figures] == [2]


def test_many_threads_wait_at_once(scripted):
    script = [{"match": f"<{number}>", "text": str(number), "delay_ms": number % 7} for number in range(200)]
    wrong = []

    def ask(pool, numbers):
        for number in numbers:
            text = pool.submit(f"<{number}>").result(30).text
            if text != str(number):
                wrong.append((number, text))

    with evalcore.Pool(scripted(*script)) as pool:
        threads = [threading.Thread(target=ask, args=(pool, range(first, 200, 8))) for first in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert wrong == []


def test_a_pool_is_closed_under_a_thread_that_waits(scripted):
    pool = evalcore.Pool(scripted(*CAPITALS))
    met = []

    def wait():
        try:
            pool.submit("slow").result()
        except errors.EvalcoreError as why:
            met.append(type(why))

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    pool.close()
    thread.join(10)
    assert met == [errors.CancelledError]


def test_streamed_text_comes_before_the_reply(scripted):
    line = {"text": "one two", "first_token_ms": 1, "delay_ms": 20}
    with evalcore.Pool(scripted(line)) as pool:
        stream = pool.stream("count")
        assert list(stream) == ["one two"]
        assert stream.reply.text == "one two"


def test_a_stream_says_where_it_begins_anew(scripted):
    fault = {"first_token_ms": 1, "delay_ms": 5, "text": "wro", "error": {"code": "truncated", "message": "cut"}}
    with evalcore.Pool(scripted(fault, {"text": "right"})) as pool:
        pieces = list(pool.stream("say"))
    assert pieces[-1] == "right"
    assert any(piece is evalcore.RESTART for piece in pieces)


def test_continuations_are_scored_in_their_order():
    with evalcore.Backend("embedded", model=MODEL, context_per_slot=1024) as backend, evalcore.Pool(backend) as pool:
        assert backend.info["selector"] == "embedded"
        assert backend.info["sent_model"] is None and backend.info["address"] is None
        hello = pool.submit("hi", temperature=0, max_tokens=8)
        scores = pool.submit(evalcore.Request(context="Hello", continuations=[" world", " there"])).result(60).scores
        assert hello.result(60).text == "Hello!"
    assert len(scores) == 2 and all(one.sum_logprob < 0 for one in scores)


def test_what_is_dropped_is_freed(scripted):
    backend = scripted(*CAPITALS)
    pool = evalcore.Pool(backend)
    handles = [pool._handle, backend._handle]
    pool.submit("slow")
    del pool, backend
    gc.collect()
    assert [one.closed for one in handles] == [True, True]


def test_several_backends_of_one_model_share_the_work(write_lines):
    script = write_lines("s.jsonl", {"text": "x", "delay_ms": 5})
    backends = [evalcore.Backend("scripted", script=script) for _ in range(2)]
    with evalcore.Pool(backends, concurrency=2) as pool:
        for one in [pool.submit("Hi") for _ in range(20)]:
            one.result(10)
        assert sum(one["answered"] for one in pool.figures) == 20
        assert all(one["answered"] > 0 for one in pool.figures)
    with pytest.raises(ValueError):
        evalcore.Pool([])
