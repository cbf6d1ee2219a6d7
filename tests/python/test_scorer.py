"""Functions of Python that score the replies of a run."""

import asyncio
import json
import threading

import pytest
from test_run import ITEMS, SCRIPT

import evalcore


def outcome(result):
    return {name: result.summary[name] for name in ("answered", "errors", "unscored", "sent", "score")}


def test_a_function_scores_all_replies_in_the_place_of_the_suites_scorers(scripted, tmp_path):
    seen = {}

    def judge(item, reply):
        seen[item["id"]] = (item["target"], item.get("scorer"), reply.text)
        assert threading.current_thread() is threading.main_thread()
        return {"a": 1, "b": 0.5, "c": {"value": True, "extracted": "Paris", "reason": ""}}[item["id"]]

    result = evalcore.run(ITEMS, scripted(*SCRIPT), out=tmp_path / "out", scorer=judge)
    assert outcome(result) == {"answered": 3, "errors": 1, "unscored": 0, "sent": 4, "score": 2.5 / 4}
    assert seen == {"a": (4, "numeric", "It is 4."), "b": (6, "numeric", "7"), "c": (["Paris", "paris"], None, "Paris")}
    assert [(row["metric"], row["n_examples"], row["score"]) for row in result.rows] == [("judge", 4, 2.5 / 4)]


def test_what_a_scorer_raises_or_gives_that_is_no_score_leaves_the_item_unscored(scripted, tmp_path):
    def judge(item, reply):
        if item["id"] == "a":
            raise ValueError("half a pair: \ud800")
        return {"b": 7, "c": "right"}[item["id"]]

    result = evalcore.run(ITEMS[:3], scripted(*SCRIPT), out=tmp_path / "out", scorer=judge)
    assert outcome(result) == {"answered": 3, "errors": 0, "unscored": 3, "sent": 3, "score": 0}
    assert result.summary["score_bounds"] == [0, 1]
    told = [note for note in result.notes if "was not scored" in note]
    assert len(told) == 1
    known = {"a": "ValueError: half a pair: ?", "b": "from 0 to 1", "c": "ValueError: could not convert string"}
    assert known[told[0].split('"')[1]] in told[0]


def test_the_same_call_again_scores_only_what_has_no_score_of_that_name(scripted, tmp_path):
    asked = []

    def judge(item, reply):
        asked.append(item["id"])
        if item["id"] == "b" and asked.count("b") == 1:
            raise RuntimeError("down")
        return 1

    def run(**options):
        asked_before = len(asked)
        result = evalcore.run(
            ITEMS[:3], scripted(*SCRIPT), out=tmp_path / "out", scorer=judge, cache=tmp_path / "out/run.db", **options
        )
        return sorted(asked[asked_before:]), result.summary["sent"], result.score

    assert evalcore.run(ITEMS[:3], scripted(*SCRIPT), out=tmp_path / "out", scorer=judge).summary["unscored"] == 1
    assert run() == (["b"], 0, 1)
    assert run() == ([], 0, 1)
    assert run(host_scorer="judge 2") == (["a", "b", "c"], 0, 1)


def test_an_async_function_scores_many_at_once(scripted, tmp_path):
    async def main():
        together = asyncio.Event()
        waiting = []

        async def judge(item, reply):
            waiting.append(item["id"])
            if len(waiting) == 3:
                together.set()
            await asyncio.wait_for(together.wait(), 30)
            return float(reply.text == "Paris")

        return await evalcore.run_async(ITEMS[:3], scripted(*SCRIPT), out=tmp_path / "out", scorer=judge)

    assert outcome(asyncio.run(main()))["score"] == pytest.approx(1 / 3)


def test_run_takes_an_async_function_too_and_its_failures(scripted, tmp_path):
    class Judge:
        async def __call__(self, item, reply):
            await asyncio.sleep(0)
            return 1 / (item["id"] != "a")

    result = evalcore.run(ITEMS[:3], scripted(*SCRIPT), out=tmp_path / "out", scorer=Judge())
    assert outcome(result) == {"answered": 3, "errors": 0, "unscored": 1, "sent": 3, "score": pytest.approx(2 / 3)}
    assert 'item "a" was not scored: ZeroDivisionError: division by zero' in result.notes
    assert result.rows[0]["metric"] == "Judge"


def test_a_run_that_is_cancelled_waits_for_no_score(scripted, tmp_path):
    cancelled = []

    async def main():
        started = asyncio.Event()

        async def never(item, reply):
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(item["id"])
                raise

        begin = evalcore.start(ITEMS[:3], scripted(*SCRIPT), out=tmp_path / "out", scorer=never)
        async with begin as run:
            waiting = asyncio.create_task(run.wait())
            await asyncio.wait_for(started.wait(), 30)
            run.cancel()
            return await waiting

    result = asyncio.run(main())
    assert result.summary["interrupted"] and result.summary["unscored"] == result.summary["answered"] > 0
    assert cancelled


def test_a_scorer_that_is_cancelled_leaves_its_item_unscored_and_the_run_ends(scripted, tmp_path):
    async def judge(item, reply):
        if item["id"] == ITEMS[0]["id"]:
            raise asyncio.CancelledError
        return 1

    async def main():
        asked = evalcore.run_async(ITEMS[:3], scripted(*SCRIPT), out=tmp_path / "out", scorer=judge)
        return await asyncio.wait_for(asked, 30)

    assert asyncio.run(main()).summary["unscored"] == 1


def test_what_does_not_go_together_is_refused(scripted, tmp_path):
    async def later(item, reply):
        return 1

    backend = scripted(*SCRIPT)
    with evalcore.start(ITEMS[:1], backend, out=tmp_path / "a", scorer=later) as run:
        with pytest.raises(TypeError, match="async for"):
            run.result()
    with pytest.raises(TypeError, match="host_scorer"):
        evalcore.run(ITEMS[:1], backend, out=tmp_path / "b", host_scorer="nobody")


def test_answers_of_a_bfcl_suite_come_as_the_items_target(scripted, tmp_path):
    function = {"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}, "required": []}}
    question = {"id": "simple_python_0", "question": [[{"role": "user", "content": "call"}]], "function": [function]}
    (tmp_path / "possible_answer").mkdir()
    path = tmp_path / "BFCL_v4_simple_python.json"
    path.write_text(json.dumps(question) + "\n")
    answer = {"id": "simple_python_0", "ground_truth": [{"f": {}}]}
    (tmp_path / "possible_answer" / path.name).write_text(json.dumps(answer) + "\n")
    seen = []

    def judge(item, reply):
        seen.append((item["target"], item["question"]))
        return 1

    assert evalcore.run(path, scripted({"text": "x"}), out=tmp_path / "out", scorer=judge).score == 1
    assert seen == [([{"f": {}}], question["question"])]


@pytest.mark.parametrize("order", [1, -1])
def test_how_many_items_are_scored_does_not_depend_on_their_order(scripted, tmp_path, order):
    def judge(item, reply):
        if item["id"] in ("1", "4"):
            raise RuntimeError("no verdict")
        return 1

    items = [{"id": str(n), "prompt": f"{n}?", "target": "x"} for n in range(6)][::order]
    result = evalcore.run(items, scripted({"text": "x"}), out=tmp_path / "out", scorer=judge)
    metric, = result.summary["metrics"]
    assert (metric["items"], metric["scored"], result.summary["unscored"]) == (6, 4, 2)


def test_the_value_of_a_scorer_is_mapped_once(scripted, tmp_path):
    points = {"a": 4, "b": 8}
    items = [{"id": name, "prompt": name, "target": "x"} for name in points]
    result = evalcore.run(items, scripted({"text": "x"}), out=tmp_path / "out", scorer=lambda item, reply: points[item["id"]] / 2 / 10)
    assert result.score == pytest.approx(0.3)
