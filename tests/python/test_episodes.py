"""Conversations that Python plays: known replies of a script, the store, limits, failures."""

import asyncio

import pytest

import evalcore
from evalcore import errors

CALL = {"id": "c1", "name": "look_up", "arguments": {"order": 7}}
SCRIPT = [
    {"match": "please call", "calls": [CALL]},
    {"match": "and so it went", "text": "I remember"},
    {"match": "refuse", "error": {"code": "invalid_request", "message": "no"}},
    {"match": "slow", "text": "late", "delay_ms": 60_000},
]
RESULT = [
    {"role": "tool", "tool_call_id": "c1", "content": "shipped"},
    {"role": "user", "content": "and so it went"},
]


async def shop(episode, reply):
    """Answers one call, and rewards an answer."""
    assert [call["function"]["name"] for call in reply.tool_calls] == ["look_up"]
    reply = await episode.next(RESULT)
    return {"reward": 1, "said": reply.text, "turns": episode.turn}


def run(scripted, tmp_path, play, **options):
    """What `play(episodes)` gives, and the figures."""

    async def main():
        backend = scripted(*SCRIPT)
        async with evalcore.Episodes(backend, store=tmp_path / "e.db", suite="shop 1", **options) as episodes:
            return await play(episodes), episodes.finish()

    return asyncio.run(main())


def test_an_episode_is_played_to_its_outcome(scripted, tmp_path):
    outcome, figures = run(scripted, tmp_path, lambda episodes: episodes.play("w1", "please call", shop))
    assert outcome == evalcore.Outcome({"reward": 1, "said": "I remember", "turns": 2}, False)
    assert (figures["episodes"], figures["ended"], figures["sent"], figures["replies"]) == (1, {"done": 1}, 2, 2)


def test_what_was_ended_before_is_not_played_again(scripted, tmp_path):
    run(scripted, tmp_path, lambda episodes: episodes.play("w1", "please call", shop))

    async def never(episode, reply):
        raise AssertionError("nothing is played")

    outcome, figures = run(scripted, tmp_path, lambda episodes: episodes.play("w1", "please call", never))
    assert outcome == evalcore.Outcome({"reward": 1, "said": "I remember", "turns": 2}, True)
    assert (figures["finished_before"], figures["sent"]) == (1, 0)


def test_what_broke_off_goes_on_from_the_store(scripted, tmp_path):
    async def breaks(episode, reply):
        raise RuntimeError("the tool is broken")

    async def broken(episodes):
        with pytest.raises(RuntimeError, match="the tool is broken"):
            await episodes.play("w1", "please call", breaks)

    run(scripted, tmp_path, broken)
    seen = []

    async def watched(episode, reply):
        seen.append((episode.turn, episode.reused, episode.diverged))
        return await shop(episode, reply)

    outcome, figures = run(scripted, tmp_path, lambda episodes: episodes.play("w1", "please call", watched))
    assert outcome.value["said"] == "I remember" and seen == [(1, True, False)]
    assert (figures["sent"], figures["reused"]) == (1, 1)


def test_many_are_played_side_by_side(scripted, tmp_path):
    async def all_of_them(episodes):
        return await asyncio.gather(*(episodes.play(f"w{number}", "please call", shop) for number in range(30)))

    outcomes, figures = run(scripted, tmp_path, all_of_them, pool={"concurrency": 8})
    assert [one.value["reward"] for one in outcomes] == [1] * 30
    assert (figures["ended"], figures["sent"]) == ({"done": 30}, 60)


def test_a_limit_is_raised_and_may_have_an_outcome(scripted, tmp_path):
    async def patient(episode, reply):
        try:
            await episode.next(RESULT)
        except evalcore.EpisodeStopped as stopped:
            return {"reward": 0, "why": stopped.why}

    once = {"max_turns": 1}
    outcome, figures = run(scripted, tmp_path, lambda episodes: episodes.play("w1", "please call", patient), **once)
    assert outcome.value == {"reward": 0, "why": "turns"}
    assert figures["sent"] == 1


def test_a_request_that_fails_is_the_cause(scripted, tmp_path):
    async def refused(episodes):
        with pytest.raises(evalcore.EpisodeStopped) as caught:
            await episodes.play("w1", "refuse", shop)
        return caught.value

    stopped, _ = run(scripted, tmp_path, refused)
    assert stopped.why == "errored"
    assert isinstance(stopped.__cause__, errors.InvalidRequestError)


def test_a_task_that_is_cancelled_gives_its_episode_up(scripted, tmp_path):
    async def cancelled(episodes):
        task = asyncio.ensure_future(episodes.play("w1", "slow", shop))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await episodes.play("w2", "please call", shop)).value["reward"]

    assert run(scripted, tmp_path, cancelled)[0] == 1


def test_an_episode_under_way_is_not_begun_again(scripted, tmp_path):
    async def twice(episodes):
        first = asyncio.ensure_future(episodes.play("w1", "slow", shop))
        await asyncio.sleep(0.05)
        with pytest.raises(errors.InvalidArgumentError):
            await episodes.play("w1", "slow", shop)
        with pytest.raises(errors.BusyError):
            evalcore.Episodes(scripted(*SCRIPT), store=tmp_path / "e.db", suite="shop 1")
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    run(scripted, tmp_path, twice)
