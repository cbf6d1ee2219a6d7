"""peer.py MODEL SUITE N_BATCH: the choices' likelihoods by llama-cpp-python, the obvious way: one full evaluation for
each, in chunks of N_BATCH tokens. Writes JSON to standard output: processor time, and for each item what evalcore's
reply has of it; also the tokens with which all contexts begin."""

import json
import os
import sys
import time

import llama_cpp
import numpy


def tokens_of(model, text):
    return model.tokenize(text.encode(), add_bos=True, special=False)


def score(model, context, choice):
    """As lm-eval cuts text: the choice begins behind as many tokens as the context has alone."""
    whole = tokens_of(model, context + choice)
    cut = len(tokens_of(model, context.rstrip()))
    model.reset()
    model.eval(whole[:-1])
    logits = model.scores[cut - 1 : len(whole) - 1].astype(numpy.float64)
    most = logits.max(axis=1)
    sums = most + numpy.log(numpy.exp(logits - most[:, None]).sum(axis=1))
    wanted = whole[cut:]
    return {
        "sum_logprob": float((logits[numpy.arange(len(wanted)), wanted] - sums).sum()),
        "is_greedy": bool((logits.argmax(axis=1) == wanted).all()),
        "tokens": len(wanted),
    }, cut


def main():
    path, file, n_batch = sys.argv[1:]
    with open(file, encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    model = llama_cpp.Llama(
        path,
        n_ctx=512,
        n_batch=int(n_batch),
        n_threads=1,
        n_threads_batch=1,
        logits_all=True,
        flash_attn=False,
        verbose=False,
    )
    shared = len(os.path.commonprefix([tokens_of(model, item["prompt"]) for item in items]))
    began = time.process_time()
    out = []
    for item in items:
        scored = [score(model, item["prompt"], choice) for choice in item["choices"]]
        out.append({"context_tokens": scored[0][1], "choices": [one for one, _ in scored]})
    took = time.process_time() - began
    print(json.dumps({"cpu_s": took, "shared_tokens": shared, "items": out}))


if __name__ == "__main__":
    main()
