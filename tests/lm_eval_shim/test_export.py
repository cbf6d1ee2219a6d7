"""What `evalcore export --format lm-eval` writes is what lm-eval writes with --log_samples: its own functions and errorbars read
it, and its hashes and standard errors are lm-eval's."""

import json
import os
import pathlib
import re
import subprocess

import datasets
import errorbars
import pytest
from lm_eval import utils
from lm_eval.api import metrics
from lm_eval.api.metrics import mean_stderr
from lm_eval.result_schema import SampleResult

ITEMS = [
    {"id": "a", "prompt": "Say é, \"quoted\"\n\tand \x01 1e-7", "target": ["yes", "it's"],
     "metadata": {"n": [1, 2.5, 1e-7, 1e22, True, None, {}, []]}},
    {"id": 7, "prompt": "2+2?", "target": 4, "scorer": "numeric",
     "params": {"temperature": 0, "max_tokens": 5, "stop": ["\n\n"]}},
    {"id": "c", "messages": [{"role": "system", "content": "Brief."}, {"role": "user", "content": "c?"}], "target": "yes"},
    {"id": "d", "prompt": "d?", "target": "the cat", "scorer": "f1"},
    {"id": "e", "prompt": "e?", "target": "yes"},
]
REPLIES = [{"match": "quoted", "text": "yes"}, {"match": "2+2", "text": "It is 4."}, {"match": "c?", "text": "no"},
           {"match": "d?", "text": "the cat sat"}, {"match": "e?", "error": {"code": "backend_fault", "message": "broke"}}]


def evalcore(folder, *arguments):
    return subprocess.run([os.environ["EVALCORE_PROGRAM"], *arguments], cwd=folder, text=True, capture_output=True, timeout=60)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def exported(folder, items, replies, *more, name="org/model:1"):
    (folder / "tasks.jsonl").write_text("".join(json.dumps(one) + "\n" for one in items))
    (folder / "script").write_text("".join(json.dumps(one) + "\n" for one in replies))
    evalcore(folder, "run", "tasks.jsonl", "-b", "scripted", "--script", "script", "--retries", "0", "--out", "run",
             "--model-name", name)  # fmt: skip
    done = evalcore(folder, "export", "run", "--format", "lm-eval", "-o", "out", *more)
    assert done.returncode == 0, done.stderr
    return sorted((folder / "out").rglob("*.json*"))


@pytest.fixture
def files(tmp_path):
    return exported(tmp_path, ITEMS, REPLIES)


def test_the_names_of_the_files_are_lm_evals(files):
    results, samples = files
    assert results.parent.name == utils.sanitize_model_name("org/model:1")
    named = [str(path) for path in files]
    assert utils.get_results_filenames(named) == [str(results)]
    assert utils.get_sample_results_filenames(named) == [str(samples)]
    assert utils.get_file_task_name(samples.name) == "tasks"
    time = utils.get_file_datetime(samples.name)
    assert results.name == f"results_{time}.json"
    assert utils.get_latest_filename([samples.name, "samples_tasks_2020-01-01T00-00-00.000001.jsonl"]) == samples.name


def test_the_fields_of_a_sample_are_lm_evals(files):
    samples = lines(files[1])
    for number, (sample, item) in enumerate(zip(samples, ITEMS, strict=True)):
        metrics = set(sample["metrics"])
        assert set(sample) == set(SampleResult.__annotations__) | metrics | {"evalcore"}
        assert sample["doc_id"] == number
        assert sample["doc"] == item
        assert sample["target"] == str(item["target"])
        assert all(isinstance(sample[metric], float) for metric in metrics)
        # As lm-eval's evaluator makes them.
        assert sample["doc_hash"] == utils.hash_string(json.dumps(item, indent=2, ensure_ascii=False))
        assert sample["target_hash"] == utils.hash_string(str(item["target"]))
        assert sample["prompt_hash"] == utils.hash_string(sample["arguments"]["gen_args_0"]["arg_0"])
    assert [sample["resps"] for sample in samples] == [[["yes"]], [["It is 4."]], [["no"]], [["the cat sat"]], [[""]]]
    assert samples[1]["arguments"]["gen_args_0"]["arg_1"] == {
        "until": ["\n\n"], "max_gen_toks": 5, "temperature": 0, "do_sample": False}
    assert json.loads(samples[2]["arguments"]["gen_args_0"]["arg_0"]) == ITEMS[2]["messages"]
    # SQuAD's f1 of "cat" in "cat sat": precision 1/2, recall 1.
    assert (samples[3]["f1"], samples[3]["quasi_exact_match"]) == (pytest.approx(2 / 3), 0)
    assert samples[4]["evalcore"] == {"id": "e", "state": "errored"}


def test_lm_eval_makes_its_table_of_the_results(files):
    results = json.loads(files[0].read_text())
    table = utils.make_table(results)
    assert "|tasks|" in table.replace(" ", "")
    of_task = results["results"]["tasks"]
    # Items a, c and e: right, wrong, errored.
    assert of_task["exact_match,none"] == pytest.approx(1 / 3)
    assert of_task["exact_match_stderr,none"] == pytest.approx(mean_stderr([1, 0, 0]))
    assert of_task["f1_stderr,none"] == "N/A"


def test_the_datasets_library_loads_the_samples(tmp_path):
    files = exported(tmp_path, ITEMS[2:], REPLIES[2:])
    loaded = datasets.load_dataset("json", data_files=str(files[1]), split="train", cache_dir=str(tmp_path / "datasets"))
    assert loaded["doc_id"][:] == [0, 1, 2]
    assert loaded["filtered_resps"][:] == [["no"], ["the cat sat"], [""]]


def test_errorbars_gets_evalcores_score_and_error(tmp_path):
    items = [{"id": str(n), "prompt": f"ask {n}.", "target": "yes"} for n in range(20)]
    replies = [{"match": f"ask {n}.", "text": "yes" if n % 3 else "no"} for n in range(19)]
    replies.append({"match": "ask 19.", "error": {"code": "backend_fault", "message": "broke"}})
    exported(tmp_path, items, replies, name="named")
    data = errorbars.load_inputs([tmp_path / "out"]).data
    assert set(data.model) == {"named"}
    (metric,) = json.loads((tmp_path / "run/summary.json").read_text())["metrics"]
    found = errorbars.mean_ci_clt(data.score)
    assert (found.mean, found.se) == (pytest.approx(metric["score"]), pytest.approx(metric["stderr"]))


def test_choices_are_pairs_of_a_sum_and_whether_it_is_the_likeliest(tmp_path):
    model = os.path.join(os.path.dirname(__file__), "../data/models/canned/canned.gguf")
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"id": "c", "prompt": "hi", "choices": [" a", " b"], "target": 0}) + "\n")
    done = evalcore(tmp_path, "run", "tasks.jsonl", "--model", model, "--out", "run", "--model-name", "m")
    if done.returncode == 3:
        pytest.skip("this build has no embedded engine")
    assert done.returncode == 0, done.stderr
    evalcore(tmp_path, "export", "run", "--format", "lm-eval", "-o", "out")
    (sample,) = lines(next((tmp_path / "out").rglob("samples_*")))
    assert list(sample["arguments"].values()) == [{"arg_0": "hi", "arg_1": " a"}, {"arg_0": "hi", "arg_1": " b"}]
    for (response,), filtered in zip(sample["resps"], sample["filtered_resps"], strict=True):
        assert response == filtered
        assert float(response[0]) < 0 and response[1] in ("True", "False")
    assert sample["metrics"] == ["acc", "acc_norm"]


def test_likelihoods_are_summed_up_by_lm_evals_functions(tmp_path):
    model = pathlib.Path(__file__).parent.parent / "data/models/canned/canned-q8_0.gguf"
    texts = [" is here.", " one and  two", "\u00e9"]
    (tmp_path / "tasks.jsonl").write_text("".join(
        json.dumps({"id": n, "prompt": "The answer", "target": text, "scorer": "perplexity"}) + "\n" for n, text in enumerate(texts)))
    done = evalcore(tmp_path, "run", "tasks.jsonl", "--model", str(model), "--threads", "1", "--out", "run")
    assert done.returncode == 0, done.stderr
    done = evalcore(tmp_path, "export", "run", "--format", "lm-eval", "-o", "out")
    assert done.returncode == 0, done.stderr
    results, samples = sorted((tmp_path / "out").rglob("*.json*"))
    held = lines(samples)
    told = json.loads(results.read_text())["results"]["tasks"]
    for name, of in [("word_perplexity", metrics.weighted_perplexity), ("byte_perplexity", metrics.weighted_perplexity),
                     ("bits_per_byte", metrics.bits_per_byte), ("perplexity", metrics.perplexity)]:
        assert told[f"{name},none"] == pytest.approx(of([sample[name] for sample in held]), rel=1e-12), name
    assert [sample["word_perplexity"][1] for sample in held] == [len(re.split(r"\s+", text)) for text in texts]
