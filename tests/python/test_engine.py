"""An engine of native code: known answers, events as they come, phases, cancellation."""

import json
import threading

import pytest
from conftest import MODEL
from shouting import Shouting

import evalcore
from evalcore import errors


@pytest.fixture
def runtime():
    return Shouting()


@pytest.fixture
def engine(runtime):
    with evalcore.Engine(runtime.address) as made:
        yield made
    assert runtime.ended == 1


def test_a_gguf_model_is_opened_without_a_table():
    with evalcore.Engine.open(MODEL, context_tokens=256, max_batch_size=2, evaluation="parity") as engine:
        asked = [engine.submit([{"role": "user", "content": "hi"}], max_tokens=8) for _ in range(3)]
        ended = [one.result(60) for one in asked]
    # What the backend "embedded" answers to the same turn.
    assert [one.text for one in ended] == ["Hello!"] * 3
    assert ended[0].info["finish_reason"] == "stop"
    with pytest.raises(errors.NotFoundError, match="missing.gguf"):
        evalcore.Engine.open("missing.gguf")


def test_a_model_is_compared_once_where_the_verdict_is_kept(tmp_path):
    with evalcore.Engine.open(MODEL, context_tokens=256, max_batch_size=2, verdict_folder=tmp_path / "kept"):
        (kept,) = (tmp_path / "kept").iterdir()
    found = json.loads(kept.read_text())
    assert (found["width"], found["restores"], found["why"]) == (2, True, "")
    told = []
    for width in (2, 1):
        folder = tmp_path / str(width)
        with evalcore.Backend("embedded", model=MODEL, context_per_slot=256, slots=2, verdict_folder=folder):
            (kept,) = folder.iterdir()
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "width": width, "why": "as this test has it"}))
        with evalcore.Backend("embedded", model=MODEL, context_per_slot=256, slots=2, verdict_folder=folder) as backend:
            told.append("one by one" in " ".join(backend.info["notes"]))
    assert told == [False, True]


def test_an_option_of_models_is_refused_for_a_table(runtime):
    with pytest.raises(errors.InvalidArgumentError, match="context_tokens"):
        evalcore.Engine(runtime.address, context_tokens=256)


def test_many_requests_run_at_once(engine):
    asked = [engine.submit(f"question {number}") for number in range(12)]
    assert [one.result(30).text for one in asked] == [f"QUESTION {number}" for number in range(12)]
    info = asked[0].result().info
    assert info["finish_reason"] == "stop"
    assert (info["usage"]["input_tokens"], info["usage"]["output_tokens"]) == (10, 10)


def test_tokens_come_one_by_one_and_characters_whole(engine):
    events = list(engine.submit("aü"))
    assert [one.token for one in events] == list("AÜ".encode())
    assert [one.text for one in events] == ["A", "", "Ü"]


def test_a_bound_a_stop_and_tokens_are_taken(engine):
    assert engine.submit("abcdef", max_tokens=3).result(30).text == "ABC"
    assert engine.submit(evalcore.Prompt("abcdef"), stop=["DE"]).result(30).text == "ABC"
    assert engine.submit([104, 105]).result(30).text == "HI"


def test_phases_are_events_between_the_tokens(engine):
    phases = [one.figures for one in engine.submit("abc", phases=True) if isinstance(one, evalcore.Phase)]
    assert phases[0]["kind"] == "llm" and phases[0]["phase"] == "prefill"
    assert phases[-1]["final"] is True


def test_continuations_are_scored(engine):
    scores = engine.submit("abc", continuations=[list(b"AB"), list(b"x")]).result(30).info["scores"]
    assert scores == [{"sum_logprob": -1.0, "is_greedy": True}, {"sum_logprob": -0.5, "is_greedy": False}]


def test_a_request_that_is_cancelled_ends_so(engine):
    long = engine.submit("a" * 2000)
    next(iter(long))
    long.cancel()
    with pytest.raises(errors.CancelledError):
        long.result(30)


def test_threads_share_an_engine(engine):
    wrong = []

    def ask(name):
        for number in range(20):
            if engine.submit(f"{name}{number}").result(30).text != f"{name.upper()}{number}":
                wrong.append((name, number))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_what_is_wrong_is_refused(engine, runtime):
    with pytest.raises(errors.InvalidRequestError):
        engine.submit("x", controls={"min_q": 1})
    with pytest.raises(errors.EvalcoreError):
        engine.submit("x", max_tokens=0).result(30)
    with pytest.raises(errors.InvalidArgumentError):
        evalcore.Engine(0)


def test_a_closed_engine_takes_nothing_more(runtime):
    engine = evalcore.Engine(runtime.address, max_batch_size=2)
    left = engine.submit("a" * 3000)
    engine.close()
    with pytest.raises(errors.ClosedError):
        engine.submit("x")
    with pytest.raises(errors.ClosedError):
        left.result()
