#!/usr/bin/env python3
"""Scores a 4-choice task by likelihood, with the in-process engine and with llama-cpp-python on the same library.

The task: which of four functions answers a question. 25 items of BFCL v4 `multiple`, each with the functions and what they
do; three other questions with their functions stand before each as examples. llama-cpp-python's `Llama` evaluates context
and choice together, once for each choice, with flash attention like the engine; the engine computes what the items share
once, then each context, and its choices as branches of it. Both on one thread, in turns. The task is scored a third time
by llama-cpp-python in chunks of 64 tokens instead of 512, to see by how much its own sums change.

  speedup             processor time of llama-cpp-python over evalcore's, without loading the model (and, of evalcore,
                      without its self-test)
  agreement           share of the items compared where both choose the same
  items_compared      those whose two best choices differ by more than `noise`, in llama-cpp-python's sums
  worst_logprob_gap   largest difference of a choice's sum between the two
  noise               largest change of a sum between llama-cpp-python's two runs
  greedy_agreement    share of the choices where both say the same of `is_greedy`
"""

# needs: llama_library
# needs: model
# needs: bfcl_data

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent / "scripts"))
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
    for one in family[:count]:
        functions = "".join(f"{each['name']}: {each['description']}\n" for each in one["function"])
        yield {
            "context": f"{TASK}{shown}{functions}{asked(one)}",
            "choices": [f" {each['name']}" for each in one["function"]],
        }


def run(command):
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    print(f"{told['cpu_s']:8.1f} s  {' '.join(map(str, command[:2]))} {command[-1]}", file=sys.stderr)
    return told


def sums_of(told):
    return [[choice["sum_logprob"] for choice in item["choices"]] for item in told["items"]]


def largest_gap(one, other):
    return max(abs(a - b) for mine, theirs in zip(one, other) for a, b in zip(mine, theirs))


def check_same_tokens(ours, theirs):
    for mine, their in zip(ours["items"], theirs["items"]):
        lengths = [[choice["tokens"] for choice in item["choices"]] for item in (mine, their)]
        if mine["context"] != their["context"] or lengths[0] != lengths[1]:
            sys.exit("the two cut a text into different tokens: they cannot be compared")


def figures_of(ours, theirs, in_small_chunks):
    check_same_tokens(ours, theirs)
    mine, their = sums_of(ours), sums_of(theirs)
    noise = largest_gap(their, sums_of(in_small_chunks))

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
    contexts = [len(item["context"]) for item in ours["items"]]
    return {
        "speedup": theirs["cpu_s"] / ours["cpu_s"],
        "agreement": sum(best(a) == best(b) for a, b in compared) / max(len(compared), 1),
        "items_compared": len(compared),
        "worst_logprob_gap": largest_gap(mine, their),
        "noise": noise,
        "greedy_agreement": sum(greedy) / len(greedy),
        "items": len(contexts),
        "context_tokens": sum(contexts) / len(contexts),
        "shared_tokens": ours["shared_tokens"],
        "evalcore_cpu_s": ours["cpu_s"],
        "llama_cpp_python_cpu_s": theirs["cpu_s"],
    }


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("program")
    flags.add_argument("--items", type=int, default=ITEMS)
    arguments = flags.parse_args()
    os.environ["LLAMA_CPP_LIB_PATH"] = os.environ["llama_ROOT"] + "/lib"
    model = os.environ["EVALCORE_MODEL"]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "items.jsonl"
        lines = items_of(pathlib.Path(os.environ["EVALCORE_BFCL"]), arguments.items)
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        peer = [sys.executable, pathlib.Path(__file__).parent / "loglikelihood" / "peer.py", model, file]
        ours = run([arguments.program, model, file])
        theirs = run([*peer, "512"])
        in_small_chunks = run([*peer, "64"])
    print(json.dumps(figures_of(ours, theirs, in_small_chunks)))


if __name__ == "__main__":
    main()
