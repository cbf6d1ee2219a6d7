"""The same pool in event loops."""

import asyncio
import os
import socket
import threading
import time

import pytest
from conftest import MODEL

import evalcore
from evalcore import errors

SLOW = {"match": "slow", "text": "late", "delay_ms": 60_000}


def test_forty_answers_of_50_ms_come_side_by_side(scripted):
    async def main():
        async with evalcore.Pool(scripted({"text": "x", "delay_ms": 50}), concurrency=40) as pool:
            return [one.text for one in await asyncio.gather(*(pool.ask("Hi") for _ in range(40)))]

    begun = time.monotonic()
    assert asyncio.run(main()) == ["x"] * 40
    assert time.monotonic() - begun < 1.5


def test_the_loop_goes_on_while_a_backend_is_opened_and_asked(write_lines):
    ticks = []

    async def tick():
        while True:
            ticks.append(None)
            await asyncio.sleep(0.001)

    async def main():
        ticking = asyncio.ensure_future(tick())
        backend = await evalcore.Backend.open("scripted", script=write_lines("s.jsonl", {"text": "x", "delay_ms": 200}))
        async with evalcore.Pool(backend) as pool:
            reply = await pool.ask("Hi")
        ticking.cancel()
        return reply.text

    assert asyncio.run(main()) == "x"
    assert len(ticks) > 20


def test_a_task_that_is_cancelled_cancels_its_request(scripted):
    async def main():
        async with evalcore.Pool(scripted(SLOW, {"text": "x"})) as pool:
            task = asyncio.ensure_future(pool.ask("slow"))
            await asyncio.sleep(0.05)
            assert pool.figures[0]["in_flight"] == 1
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await pool.ask("Hi")).text == "x"
            deadline = time.monotonic() + 5
            while pool.figures[0]["in_flight"] and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            return pool.figures[0]["in_flight"], pool._pending

    assert asyncio.run(main()) == (0, {})


def test_a_task_that_is_cancelled_ends_its_opening_and_no_other():
    async def main(url):
        first, second = (asyncio.ensure_future(evalcore.Backend.open("openai-url", base_url=url)) for _ in range(2))
        await asyncio.sleep(0.1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        done, _ = await asyncio.wait([second], timeout=0.3)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        return done

    # It takes connections and never answers.
    with socket.create_server(("127.0.0.1", 0)) as server:
        begun = time.monotonic()
        # The end of a loop waits for its threads.
        assert asyncio.run(main(f"http://127.0.0.1:{server.getsockname()[1]}")) == set()
        assert time.monotonic() - begun < 5


def test_a_server_that_nobody_waits_for_any_more_ends(tmp_path):
    program = tmp_path / "server"
    start, pid = tmp_path / "start", tmp_path / "pid"
    program.write_text(f"#!/bin/sh\necho $$ >{start} && mv {start} {pid}\nexec sleep 100\n")
    program.chmod(0o755)

    async def main():
        opening = asyncio.ensure_future(evalcore.Backend.open("llama-server", model=MODEL, server_program=program))
        while not pid.exists():
            await asyncio.sleep(0.01)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_time_limit_of_asyncio_ends_a_request(scripted):
    async def main():
        async with evalcore.Pool(scripted(SLOW)) as pool:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(pool.ask("slow"), 0.05)

    asyncio.run(main())


def test_a_failure_is_raised_where_it_is_awaited(scripted):
    async def main():
        async with evalcore.Pool(scripted({"error": {"code": "auth", "message": "who are you"}})) as pool:
            with pytest.raises(errors.AuthError, match="who are you"):
                await pool.ask("Hi")

    asyncio.run(main())


def test_text_is_streamed_and_the_reply_is_whole():
    async def main():
        backend = await evalcore.Backend.open("embedded", model=MODEL, context_per_slot=1024)
        async with evalcore.Pool(backend) as pool:
            stream = pool.stream("hi", temperature=0, max_tokens=8)
            pieces = [piece async for piece in stream]
            return pieces, (await stream.pending).text

    pieces, text = asyncio.run(main())
    assert "".join(pieces) == text == "Hello!"


def test_more_than_may_be_outstanding_wait_for_their_turn(scripted):
    async def main():
        async with evalcore.Pool(scripted({"text": "x", "delay_ms": 2}), max_outstanding=4) as pool:
            return len(await asyncio.gather(*(pool.ask("Hi") for _ in range(30))))

    assert asyncio.run(main()) == 30


def test_loops_and_threads_share_a_pool(scripted):
    script = [{"match": f"<{number}>", "text": str(number), "delay_ms": number % 5} for number in range(240)]
    wrong = []

    async def ask(pool, number):
        reply = await pool.ask(f"<{number}>")
        if reply.text != str(number):
            wrong.append(number)

    async def gather(pool, numbers):
        await asyncio.gather(*(ask(pool, number) for number in numbers))

    def wait(pool, numbers):
        for number in numbers:
            if pool.submit(f"<{number}>").result(30).text != str(number):
                wrong.append(number)

    with evalcore.Pool(scripted(*script)) as pool:
        work = [lambda part=part: asyncio.run(gather(pool, part)) for part in (range(0, 60), range(60, 120))]
        work += [lambda part=part: wait(pool, part) for part in (range(120, 180), range(180, 240))]
        threads = [threading.Thread(target=one) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert pool.figures[0]["answered"] == 240
    assert wrong == []


def test_a_pool_outlives_a_loop(scripted):
    with evalcore.Pool(scripted(SLOW, {"text": "x"})) as pool:

        async def leave():
            pool.submit("slow")
            return (await pool.ask("Hi")).text

        assert [asyncio.run(leave()) for _ in range(2)] == ["x", "x"]
        assert pool.submit("Hi").result(10).text == "x"


def test_answers_and_scores_come_side_by_side():
    async def main():
        scored = evalcore.Request(context="Hello", continuations=[" world", " there"])
        backend = await evalcore.Backend.open("embedded", model=MODEL, context_per_slot=1024)
        async with evalcore.Pool(backend) as pool:
            answers = [pool.ask("hi", temperature=0, max_tokens=8) for _ in range(4)]
            return await asyncio.gather(*answers, *(pool.ask(scored) for _ in range(4)))

    replies = asyncio.run(main())
    assert [one.text for one in replies[:4]] == ["Hello!"] * 4
    scores = [one.scores for one in replies[4:]]
    assert all(one == scores[0] for one in scores)
    assert len(scores[0]) == 2 and all(one.sum_logprob < 0 for one in scores[0])
