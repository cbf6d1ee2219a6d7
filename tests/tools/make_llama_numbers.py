#!/usr/bin/env python3
"""Writes tests/data/engine/llama_numbers.json: what llama-cpp-python computes on canned.gguf (F32 weights),
with keys and values in half precision as the engine keeps them, and the sums also with those in single precision;
prints by how much flash attention in half precision is off from these.

usage: make_llama_numbers.py MODEL FILE, in an environment with llama-cpp-python on the same library:
  CMAKE_ARGS="-DLLAMA_BUILD=OFF -DLLAVA_BUILD=OFF" pip install llama-cpp-python==0.3.36
  LLAMA_CPP_LIB_PATH=<the library's folder>/lib make_llama_numbers.py …
"""

import json
import math
import sys

import llama_cpp

# A long context ends off the grid of 64 tokens, a short one before its first point.
CONTEXTS = {"short": "The library keeps two clocks", "long": "One was a gift; the other came with the house. " * 14}
CONTINUATIONS = [", and neither is right.", "!", "\n" + "abcdefghij" * 13]
ANSWER = 8


def log_softmax(logits):
    most = max(logits)
    log_sum = most + math.log(sum(math.exp(logit - most) for logit in logits))
    return [logit - log_sum for logit in logits]


def cases_of(model, kept_as, flash_attention=False):
    """With keys and values of a type."""
    llama = llama_cpp.Llama(
        model,
        n_ctx=1024,
        n_batch=64,
        n_threads=1,
        type_k=kept_as,
        type_v=kept_as,
        flash_attn=flash_attention,
        logits_all=True,
        verbose=False,
    )

    def after(context, more):
        """The log probabilities behind each token, computed as the engine does: cut at the end of the context."""
        llama.reset()
        llama.n_batch = 64
        llama.eval(context)
        llama.n_batch = 63
        for piece in more:
            llama.eval(piece)
        return [log_softmax([float(logit) for logit in llama.scores[at]]) for at in range(llama.n_tokens)]

    def likeliest(row):
        return max(range(len(row)), key=lambda token: (row[token], -token))

    def score(context, continuation):
        rows = after(context, [continuation])[len(context) - 1 : -1]
        return {
            "tokens": continuation,
            "sum_logprob": sum(row[token] for row, token in zip(rows, continuation)),
            "is_greedy": all(likeliest(row) == token for row, token in zip(rows, continuation)),
        }

    def answer(tokens):
        given, logprobs = [], []
        for _ in range(ANSWER):
            row = after(tokens, [[token] for token in given])[-1]
            if likeliest(row) == llama.token_eos():
                break
            given.append(likeliest(row))
            logprobs.append(row[given[-1]])
        return {"tokens": given, "logprobs": logprobs}

    def tokens_of(text):
        return llama.tokenize(text.encode(), add_bos=False, special=False)

    cases = []
    for name, text in CONTEXTS.items():
        context = tokens_of(text)
        scores = [score(context, tokens_of(continuation)) for continuation in CONTINUATIONS]
        greedy = answer(context)
        scores.append(score(context, greedy["tokens"][:3]))
        cases.append({"name": name, "text": text, "tokens": context, "answer": greedy, "continuations": scores})
    return cases


def main(model, file):
    cases = cases_of(model, llama_cpp.GGML_TYPE_F16)
    exact = cases_of(model, llama_cpp.GGML_TYPE_F32)
    flash = cases_of(model, llama_cpp.GGML_TYPE_F16, flash_attention=True)
    flash_off = 0
    for case, single, other in zip(cases, exact, flash):
        for at, one in enumerate(case["continuations"]):
            one["single_precision_sum"] = single["continuations"][at]["sum_logprob"]
            flash_off = max(flash_off, abs(other["continuations"][at]["sum_logprob"] - one["single_precision_sum"]) / len(one["tokens"]))
    print(f"flash attention is off by up to {flash_off:.4f} a token")
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"by": f"llama-cpp-python {llama_cpp.__version__}", "cases": cases}, out)
        out.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
