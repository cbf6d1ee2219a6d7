#!/usr/bin/env python3
"""Scores a 4-choice task by likelihood, with the in-process engine and with llama-cpp-python on the same library.

The task: which of four functions answers a question. 25 items of BFCL v4 `multiple`, each with the functions and what they
do; three other questions with their functions stand before each as examples. llama-cpp-python's `Llama` evaluates context
and choice together, once for each choice, without flash attention like the engine; the engine computes what the items share
once, then each context, and its choices as branches of it. Both on one thread, in turns. The task is scored a third time
by llama-cpp-python in chunks of 64 tokens instead of 512, to see by how much its own sums change.

  speedup             processor time of llama-cpp-python over evalcore's, without loading the model: of evalcore, that is
                      the time of `evalcore run` less that of the same command again, which finds all in its store
  agreement           share of the items compared where both choose the same
  items_compared      those whose two best choices differ by more than `noise`, in llama-cpp-python's sums
  worst_logprob_gap   largest difference of a choice's sum between the two
  noise               largest change of a sum between llama-cpp-python's two runs
  same_in_chunks      share of the choices whose sum is llama-cpp-python's in chunks of 64 to the sixth digit; the engine's
                      chunks are those, unless a choice ends beyond the next multiple of 64
  shared_tokens       tokens with which all contexts begin
  greedy_agreement    share of the choices where both say the same of `is_greedy`
"""

# needs: llama_library
# needs: model
# needs: bfcl_data
# needs: evalcore

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent / "scripts"))
import demo_report  # noqa: E402
import make_demo_suite as demo  # noqa: E402

CATEGORY = "multiple"
CHOICES = 4
ITEMS = 25
EXAMPLES = 3
TASK = "Name the function that answers the question.\n\n"


def items_of(data, count):
    name = f"BFCL_v4_{CATEGORY}.json"
    gold = {one["id"]: next(iter(one["ground_truth"][0])) for one in demo.json_lines(data / "possible_answer" / name)}
    family = [one for one in demo.json_lines(data / name) if len(one["function"]) == CHOICES]

    def asked(one):
        return f"Question: {one['question'][0][0]['content']}\nFunction:"

    shown = "".join(f"{asked(one)} {gold[one['id']]}\n\n" for one in family[ITEMS : ITEMS + EXAMPLES])
    for at, one in enumerate(family[:count]):
        functions = "".join(f"{each['name']}: {each['description']}\n" for each in one["function"])
        yield {
            "id": at,
            "prompt": f"{TASK}{shown}{functions}{asked(one)}",
            "choices": [f" {each['name']}" for each in one["function"]],
            "target": f" {gold[one['id']]}",
        }


def processor_seconds(command):
    """Of a whole process, user and system."""

    def of_children():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = of_children()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return of_children() - before


def with_evalcore(model, suite, folder):
    command = [os.environ["EVALCORE_PROGRAM"], "run", suite, "--model", model, "--out", folder, "--quiet"]
    whole = processor_seconds(command)
    loading = processor_seconds(command)
    replies = demo_report.replies(folder / "run.db")
    items = [
        {"context_tokens": replies[str(at)]["usage"]["prompt_tokens"], "choices": replies[str(at)]["choices"]}
        for at in range(len(replies))
    ]
    return {"cpu_s": whole - loading, "items": items}


def with_peer(model, suite, n_batch):
    peer = pathlib.Path(__file__).parent / "loglikelihood" / "peer.py"
    command = [sys.executable, peer, model, suite, str(n_batch)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def sums_of(told):
    return [[choice["sum_logprob"] for choice in item["choices"]] for item in told["items"]]


def largest_gap(one, other):
    """Sums of the same logits differ in the order of their terms, from the twelfth digit on."""
    return round(max(abs(a - b) for mine, theirs in zip(one, other) for a, b in zip(mine, theirs)), 9)


def share_of_same(one, other):
    same = [abs(a - b) < 1e-6 for mine, theirs in zip(one, other) for a, b in zip(mine, theirs)]
    return sum(same) / len(same)


def check_same_tokens(ours, theirs):
    for mine, their in zip(ours["items"], theirs["items"]):
        lengths = [
            [item["context_tokens"], *(choice["tokens"] for choice in item["choices"])] for item in (mine, their)
        ]
        if lengths[0] != lengths[1]:
            sys.exit("the two cut a text into different tokens: they cannot be compared")


def figures_of(ours, theirs, in_small_chunks):
    check_same_tokens(ours, theirs)
    mine, their = sums_of(ours), sums_of(theirs)
    in_chunks = sums_of(in_small_chunks)
    noise = largest_gap(their, in_chunks)

    def best(sums):
        return sums.index(max(sums))

    def is_clear(sums):
        first, second = sorted(sums, reverse=True)[:2]
        return first - second > noise

    compared = [(a, b) for a, b in zip(mine, their) if is_clear(b)]
    greedy = [
        a["is_greedy"] == b["is_greedy"]
        for one, other in zip(ours["items"], theirs["items"])
        for a, b in zip(one["choices"], other["choices"])
    ]
    contexts = [item["context_tokens"] for item in ours["items"]]
    return {
        "speedup": theirs["cpu_s"] / ours["cpu_s"],
        "agreement": sum(best(a) == best(b) for a, b in compared) / max(len(compared), 1),
        "items_compared": len(compared),
        "worst_logprob_gap": largest_gap(mine, their),
        "noise": noise,
        "same_in_chunks": share_of_same(mine, in_chunks),
        "greedy_agreement": sum(greedy) / len(greedy),
        "items": len(contexts),
        "context_tokens": sum(contexts) / len(contexts),
        "shared_tokens": theirs["shared_tokens"],
        "evalcore_cpu_s": ours["cpu_s"],
        "llama_cpp_python_cpu_s": theirs["cpu_s"],
    }


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--items", type=int, default=ITEMS)
    arguments = flags.parse_args()
    os.environ["LLAMA_CPP_LIB_PATH"] = os.environ["llama_ROOT"] + "/lib"
    model = os.environ["EVALCORE_MODEL"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        suite = folder / "choices.jsonl"
        lines = items_of(pathlib.Path(os.environ["EVALCORE_BFCL"]), arguments.items)
        suite.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        ours = with_evalcore(model, suite, folder / "out")
        print(f"{ours['cpu_s']:8.1f} s  evalcore", file=sys.stderr)
        theirs = with_peer(model, suite, 512)
        print(f"{theirs['cpu_s']:8.1f} s  llama-cpp-python", file=sys.stderr)
        in_small_chunks = with_peer(model, suite, 64)
        print(f"{in_small_chunks['cpu_s']:8.1f} s  llama-cpp-python in chunks of 64", file=sys.stderr)
    print(json.dumps(figures_of(ours, theirs, in_small_chunks)))


if __name__ == "__main__":
    main()
