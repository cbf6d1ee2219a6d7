"""A backend that Python plays."""

import asyncio

import pytest

import evalcore
from evalcore import errors


def asked(answer, play, **options):
    """What `play(pool)` gives while `answer` answers."""

    async def main():
        host = evalcore.HostBackend("mine", {"version": "1"})
        async with host.serving(answer), evalcore.Pool(host, **options) as pool:
            return await play(pool)

    return asyncio.run(main())


def test_a_function_sees_the_request_and_its_text_is_the_answer():
    seen = []

    async def answer(request):
        seen.append(request)
        return "ü" + request["messages"][-1]["content"]

    reply = asked(answer, lambda pool: pool.ask("Hi", temperature=0, max_tokens=3))
    assert (reply.text, reply.finish_reason) == ("üHi", "stop")
    assert (seen[0]["messages"], seen[0]["temperature"]) == ([{"role": "user", "content": "Hi"}], 0)


def test_a_whole_completion_keeps_its_figures():
    async def answer(request):
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        return {"choices": [{"message": {"content": "x"}, "finish_reason": "length"}], "usage": usage}

    reply = asked(answer, lambda pool: pool.ask("Hi"))
    assert (reply.finish_reason, reply.usage["prompt_tokens"], reply.usage["completion_tokens"]) == ("length", 5, 2)


def test_many_are_answered_at_once():
    busy, most = 0, 0

    async def answer(request):
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.02)
        busy -= 1
        return request["messages"][-1]["content"]

    async def play(pool):
        return [one.text for one in await asyncio.gather(*(pool.ask(str(number)) for number in range(20)))]

    assert asked(answer, play, concurrency=5) == [str(number) for number in range(20)]
    assert most == 5


def test_what_it_raises_says_whether_it_is_asked_again():
    tries = []

    async def answer(request):
        tries.append(request)
        if len(tries) == 1:
            raise errors.BackendFaultError("try again")
        raise errors.ContextOverflowError("too long")

    with pytest.raises(errors.ContextOverflowError, match="too long"):
        asked(answer, lambda pool: pool.ask("Hi"))
    assert len(tries) == 2


def test_a_mistake_of_the_function_is_told():
    async def answer(request):
        return request["no such member"]

    with pytest.raises(errors.InternalError, match="KeyError"):
        asked(answer, lambda pool: pool.ask("Hi"), retries=0)


def test_what_nobody_waits_for_is_cancelled():
    ended = []

    async def answer(request):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def play(pool):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(pool.ask("Hi"), 0.1)
        for _ in range(500):
            if ended:
                break
            await asyncio.sleep(0.01)

    asked(answer, play)
    assert ended == ["cancelled"]
