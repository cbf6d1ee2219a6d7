#!/usr/bin/env python3
"""What lm-eval's requests cost in processor time, with its own local-completions and with the model evalcore.

A task of 2,000 documents is evaluated by lm-eval.simple_evaluate in a process of its own, with 64 requests in flight at
a mock on another core. Counted is the time of the process, user and system and of all its threads, from the call of
generate_until to its return: of local-completions the payloads, HTTP and retries, of evalcore the suite, the plan, HTTP,
the store and what is read from it. What comes before and after, the start-up and lm-eval's own work on tasks and
metrics, is outside and alike; so is the same count of a model that answers at once, which is subtracted from both.
Figures are medians of the rounds, in which all go in turn.

  cpu_ratio           the less of the two that follow
  cpu_ratio_0ms, cpu_ratio_50ms
                      local-completions' time divided by evalcore's, with answers at once and after 50 ms
  evalcore_us, local_completions_us
                      processor time of a request, answers at once
  results_equal       1: both gave the same results and samples each time, else 0
"""

# needs: library

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
MODELS = ("at_once", "local_completions", "evalcore")
ANSWER = "The capital of France is Paris, and the capital of Germany is Berlin."  # The mock's.
DELAYS_MS = (0, 50)
IN_FLIGHT = 64
DOCUMENTS = 2000
SHOWN = "".join(f"Question: what is {n} + {n}?\nAnswer: {2 * n}\n\n" for n in range(20))


def processor_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(kind):
    """The same class, which says what its generate_until took."""

    class Measured(kind):
        took_s = 0.0

        def generate_until(self, requests, disable_tqdm=False):
            before = processor_s()
            answers = super().generate_until(requests, disable_tqdm=disable_tqdm)
            self.took_s += processor_s() - before
            return answers

    return Measured


def model_of(name, url, folder):
    from lm_eval.api.model import LM
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    from evalcore.lm_eval import Model

    class AtOnce(LM):
        def generate_until(self, requests, disable_tqdm=False):
            return [ANSWER for _ in requests]

        loglikelihood = loglikelihood_rolling = None

    if name == "at_once":
        return measured(AtOnce)()
    if name == "evalcore":
        return measured(Model)(base_url=url, model="mock", concurrency=IN_FLIGHT, out=folder / "out")
    return measured(LocalCompletionsAPI)(
        base_url=f"{url}/completions", model="mock", tokenizer_backend=None, num_concurrent=IN_FLIGHT, batch_size=1
    )


def evaluate(name, url):
    """In a process of its own: what it took, and what came out."""
    import lm_eval

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        documents = [json.dumps({"text": f"{SHOWN}Question: what is {n} + 1?\nAnswer:"}) for n in range(DOCUMENTS)]
        (folder / "documents.jsonl").write_text("\n".join(documents))
        task = {
            "task": "sums",
            "dataset_path": "json",
            "dataset_kwargs": {
                "data_files": {"test": str(folder / "documents.jsonl")},
                "cache_dir": str(folder / "datasets"),
            },
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{text}}",
            "doc_to_target": ANSWER,
            "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 16},
            "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        }
        model = model_of(name, url, folder)
        told = lm_eval.simple_evaluate(model=model, tasks=[task], bootstrap_iters=0)
    samples = [[one["doc_id"], one["resps"], one["filtered_resps"]] for one in told["samples"]["sums"]]
    return {"took_s": model.took_s, "results": repr(told["results"]), "samples": samples}


def run(name, url, core):
    command = ["taskset", "--cpu-list", str(core), sys.executable, __file__, "--model", name, "--url", url]
    quiet = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1", "PYTHONPATH": str(ROOT / "python")}
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, env={**os.environ, **quiet}, stdout=subprocess.PIPE, stderr=said)
        if done.returncode != 0:
            said.seek(0)
            sys.exit(said.read().decode(errors="replace")[-4000:])
    return json.loads(done.stdout.splitlines()[-1])


def rounds_of(count):
    mine = sorted(os.sched_getaffinity(0))
    mock = subprocess.Popen(
        ["taskset", "--cpu-list", str(mine[-1]), str(ROOT / "build/release/bench/bench_client_mock")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    port = int(mock.stdout.readline())
    for number in range(1, count + 1):
        told = {
            delay: {name: run(name, f"http://127.0.0.1:{port}/delay/{delay}/v1", mine[0]) for name in MODELS}
            for delay in DELAYS_MS
        }
        took = {
            f"{name} {delay} ms": round(one["took_s"], 3) for delay, all in told.items() for name, one in all.items()
        }
        print(f"round {number}: processor seconds: {took}", file=sys.stderr)
        yield told
    mock.stdin.close()
    mock.wait(timeout=60)


def figures_of(rounds):
    def cost(told, delay, name):
        return told[delay][name]["took_s"] - told[delay]["at_once"]["took_s"]

    def ratio(delay):
        return statistics.median(cost(one, delay, "local_completions") / cost(one, delay, "evalcore") for one in rounds)

    def us(name):
        return 1e6 * statistics.median(cost(one, 0, name) for one in rounds) / DOCUMENTS

    def what(told, delay, name):
        return told[delay][name]["results"], told[delay][name]["samples"]

    return {
        "cpu_ratio": min(ratio(delay) for delay in DELAYS_MS),
        **{f"cpu_ratio_{delay}ms": ratio(delay) for delay in DELAYS_MS},
        "evalcore_us": us("evalcore"),
        "local_completions_us": us("local_completions"),
        "results_equal": int(
            all(what(one, delay, "evalcore") == what(one, delay, "local_completions")
                for one in rounds for delay in DELAYS_MS)
        ),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    how = parser.parse_args()
    if how.model:
        print(json.dumps(evaluate(how.model, how.url)))
        return
    print(json.dumps(figures_of(list(rounds_of(how.rounds)))))


if __name__ == "__main__":
    main()
