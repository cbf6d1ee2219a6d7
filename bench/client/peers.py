"""Clients in Python that keep requests in flight at the mock.

peers.py PORT BODY CLIENT   for each line of standard input, "CLIENT PATH N SECONDS", one JSON object: requests,
                            wall_s, cpu_s. CLIENT: aiohttp, lm_eval, openai.
"""

import asyncio
import json
import logging
import os
import resource
import sys
import time

WARM_UP_S = 0.4


class Meter:
    """Counts answers for so long, but for those of the first moments, in which connections are opened."""

    def __init__(self, seconds):
        self.begin = time.monotonic() + WARM_UP_S
        self.end = self.begin + seconds
        self.counting = False
        self.seen = {"requests": 0, "wall_s": 0.0, "cpu_s": 0.0}

    @staticmethod
    def cpu_s():
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    def answered(self, count=1):
        """False when it was the last to be counted."""
        now = time.monotonic()
        if not self.counting:
            if now >= self.begin:
                self.counting, self.begin, self.cpu_at_begin = True, now, self.cpu_s()
            return True
        if self.seen["wall_s"]:
            return False
        self.seen["requests"] += count
        if now < self.end:
            return True
        self.seen["wall_s"] = now - self.begin
        self.seen["cpu_s"] = self.cpu_s() - self.cpu_at_begin
        return False


async def side_by_side(ask, in_flight, seconds):
    meter = Meter(seconds)

    async def one():
        while True:
            if not await ask():
                sys.exit("an answer without text")
            if not meter.answered():
                return

    await asyncio.gather(*(one() for _ in range(in_flight)))
    return meter.seen


def with_aiohttp(url, body, in_flight, seconds):
    import aiohttp

    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}

    async def run():
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

            async def ask():
                async with session.post(url + "/v1/chat/completions", data=body) as answer:
                    return (await answer.json())["choices"][0]["message"]["content"]

            return await side_by_side(ask, in_flight, seconds)

    return asyncio.run(run())


def with_openai(url, body, in_flight, seconds):
    import openai

    asked = json.loads(body)

    async def run():
        async with openai.AsyncOpenAI(api_key="none", base_url=url + "/v1") as client:

            async def ask():
                return (await client.chat.completions.create(**asked)).choices[0].message.content

            return await side_by_side(ask, in_flight, seconds)

    return asyncio.run(run())


def with_lm_eval(url, body, in_flight, seconds):
    """Its own request path on prepared instances, in runs of thirty requests for each in flight; a run opens its
    connections anew, as lm-eval does."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    asked = json.loads(body)
    prompt = "\n".join(turn["content"] for turn in asked["messages"])
    model = LocalCompletionsAPI(
        base_url=url + "/v1/completions",
        model="mock",
        tokenizer_backend=None,
        num_concurrent=in_flight,
        max_length=4096,
    )
    how = {"max_gen_toks": asked["max_tokens"], "temperature": 0, "until": ["\n\n"]}
    wanted = [
        Instance(request_type="generate_until", doc={}, arguments=(f"{i} {prompt}", dict(how)), idx=i)
        for i in range(30 * in_flight)
    ]
    meter = Meter(seconds)
    while meter.answered(len(wanted)):
        if not all(model.generate_until(wanted, disable_tqdm=True)):
            sys.exit("an answer without text")
    return meter.seen


CLIENTS = {"aiohttp": with_aiohttp, "lm_eval": with_lm_eval, "openai": with_openai}


def main():
    port, body, name = sys.argv[1:]
    os.environ |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
    logging.disable(logging.WARNING)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a client prints is not an answer.
    for line in sys.stdin:
        _, path, in_flight, seconds = line.split()
        url = f"http://127.0.0.1:{port}{path}"
        print(json.dumps(CLIENTS[name](url, body, int(in_flight), float(seconds))), file=answers, flush=True)


if __name__ == "__main__":
    main()
