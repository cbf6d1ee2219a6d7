"""brier and perplexity, summed up by `evalcore score`, against lm-eval's functions on random likelihoods."""

import json
import math
import os
import random
import re
import subprocess

import numpy
import pytest
from lm_eval.api.metrics import bits_per_byte, brier_score, perplexity, weighted_perplexity

PIECES = [" ", "  ", "\n", "\t", "\u00a0", "\u3000", "a", "é", "東京", "it's", "\u200b", "x" * 30]


def metrics(tmp_path, items, replies):
    for name, lines in (("suite.jsonl", items), ("replies.jsonl", replies)):
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in lines))
    done = subprocess.run(
        [os.environ["EVALCORE_PROGRAM"], "score", "suite.jsonl", "--replies", "replies.jsonl", "--json"],
        cwd=tmp_path, capture_output=True, check=True)
    return {one["metric"]: one["score"] for one in json.loads(done.stdout)["metrics"]}


@pytest.mark.parametrize("seed", range(5))
def test_brier_is_that_of_lm_eval(tmp_path, seed):
    choose = random.Random(seed)
    count = choose.randint(2, 6)
    made = [(choose.randrange(count), [-choose.expovariate(1 / choose.choice([0.1, 3, 80])) for _ in range(count)]) for _ in range(300)]
    items = [{"id": n, "prompt": "?", "choices": [f" {c}" for c in range(count)], "target": gold, "scorer": "brier"}
             for n, (gold, _) in enumerate(made)]
    ours = metrics(tmp_path, items, [{"id": n, "choices": sums} for n, (_, sums) in enumerate(made)])

    def softmax(sums):
        powers = numpy.exp(sums - numpy.max(sums))
        return powers / powers.sum()

    assert ours["brier_score"] == pytest.approx(brier_score([(gold, softmax(numpy.array(sums))) for gold, sums in made]), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_perplexities_are_those_of_lm_eval(tmp_path, seed):
    choose = random.Random(seed)
    texts = ["".join(choose.choices(PIECES, k=choose.randint(1, 40))) for _ in range(300)]
    sums = [-choose.expovariate(1 / (2 * len(text))) for text in texts]
    items = [{"id": n, "prompt": "?", "target": text, "scorer": "perplexity"} for n, text in enumerate(texts)]
    replies = [{"id": n, "choices": [{"sum_logprob": total, "is_greedy": choose.random() < 0.5}]} for n, total in enumerate(sums)]
    ours = metrics(tmp_path, items, replies)
    words = [len(re.split(r"\s+", text)) for text in texts]
    sizes = [len(text.encode()) for text in texts]
    short = [total / 100 for total in sums]
    assert ours["word_perplexity"] == pytest.approx(weighted_perplexity(list(zip(sums, words))), rel=1e-12)
    assert ours["byte_perplexity"] == pytest.approx(weighted_perplexity(list(zip(sums, sizes))), rel=1e-12)
    assert ours["bits_per_byte"] == pytest.approx(bits_per_byte(list(zip(sums, sizes))), rel=1e-12)
    assert ours["acc"] == pytest.approx(sum(one["choices"][0]["is_greedy"] for one in replies) / len(replies))
    few = metrics(tmp_path, items, [{"id": n, "choices": [{"sum_logprob": total, "is_greedy": True}]} for n, total in enumerate(short)])
    assert few["perplexity"] == pytest.approx(perplexity(short), rel=1e-12)
    assert not math.isinf(few["perplexity"])
