"""The result files of `evalcore export --format bfcl` go through BFCL's own `bfcl evaluate`, and its accuracy is that of
evalcore's scorer."""

import json
import os
import pathlib
import subprocess

import pytest

from bfcl_cases import replies
from bfcl_items import DATA, load

ITEMS = 60
CATEGORIES = ("simple_python", "simple_java", "simple_javascript", "multiple", "parallel_multiple", "irrelevance",
              "live_simple", "live_parallel", "live_relevance")


def evalcore(*arguments, cwd):
    return subprocess.run([os.environ["EVALCORE_PROGRAM"], *map(str, arguments)], cwd=cwd, text=True, capture_output=True,
                          timeout=300)


def run_category(category, form, model, folder):
    """A run whose replies are right for some items and mutations for the others, and its export into `folder`."""
    items = load(category)[:ITEMS]
    script = []
    for number, item in enumerate(items):
        cases = [reply for _, reply in replies(item, category) if form in reply]
        # Of many mutations another for each item, and the gold ones, which come first, for every second.
        script.append(cases[(number * 7) % len(cases) if number % 2 else 0])
    # Reasoning goes first in evalcore and stands apart in the file.
    script[0] = script[0] | ({"text": "<think>Which one?</think>\n" + script[0]["text"]} if form == "text" else {})
    script[1]["usage"] = {"prompt_tokens": 12, "completion_tokens": 3}
    (folder / "script").write_text("".join(json.dumps(reply) + "\n" for reply in script))
    done = evalcore("run", DATA / f"BFCL_v4_{category}.json", "--backend", "scripted", "--script", "script", "--limit", ITEMS,
                    "--concurrency", "1", "--order", "suite", "--tools", "native" if form == "calls" else "text",
                    "--model-name", model, "--out", category, cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    exported = evalcore("export", category, "--format", "bfcl", "-o", "out", cwd=folder)
    assert exported.returncode == 0, exported.stderr
    return json.loads((folder / category / "summary.json").read_text())["metrics"][0]["score"]


def official(model, folder):
    """What `bfcl evaluate` says of each category."""
    environment = {**os.environ, "BFCL_PROJECT_ROOT": str(folder), "OPENAI_API_KEY": "none"}
    script = pathlib.Path(__file__).with_name("bfcl_evaluate.py")
    done = subprocess.run([os.environ["EVALCORE_BFCL_PYTHON"], script, "evaluate", "--model", model, "--test-category",
                           ",".join(CATEGORIES), "--result-dir", "out/result", "--score-dir", "score", "--partial-eval"],
                          env=environment, cwd=folder, text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    told = {}
    for path in (folder / "score" / model).rglob("BFCL_v4_*_score.json"):
        head = json.loads(path.read_text().splitlines()[0])
        told[path.name.removeprefix("BFCL_v4_").removesuffix("_score.json")] = (head["accuracy"], head["total_count"])
    return told


@pytest.mark.parametrize(("form", "model"), [("calls", "evalcore-FC"), ("text", "evalcore")])
def test_bfcl_evaluate_gives_the_accuracy_that_evalcore_gives(form, model, tmp_path):
    ours = {category: run_category(category, form, model, tmp_path) for category in CATEGORIES}
    counts = {category: min(ITEMS, len(load(category))) for category in CATEGORIES}
    theirs = official(model, tmp_path)
    assert theirs == {category: (pytest.approx(ours[category]), counts[category]) for category in CATEGORIES}
    assert sum(0.1 < score < 0.95 for score in ours.values()) >= 6
    line = json.loads((tmp_path / f"out/result/{model}/non_live/BFCL_v4_multiple_result.json").read_text().splitlines()[1])
    assert (line["input_token_count"], line["output_token_count"]) == (12, 3)


def test_an_item_without_a_reply_has_no_line(tmp_path):
    """A line for it would be an answer: BFCL counts a failed request as right where no call is wanted."""
    (tmp_path / "script").write_text('{"text": "No tool fits."}\n{"error": {"code": "backend_fault", "message": "broke"}}\n')
    evalcore("run", DATA / "BFCL_v4_irrelevance.json", "--backend", "scripted", "--script", "script", "--limit", 2,
             "--retries", "0", "--concurrency", "1", "--order", "suite", "--model-name", "evalcore", "--out", "run",
             cwd=tmp_path)  # fmt: skip
    done = evalcore("export", "run", "--format", "bfcl", "-o", "out", cwd=tmp_path)
    assert "1 of 2 items have no reply" in done.stderr
    (file,) = (tmp_path / "out").rglob("*.json")
    assert [json.loads(line) for line in file.read_text().splitlines()] == [{"id": "irrelevance_0", "result": "No tool fits."}]
    assert official("evalcore", tmp_path) == {"irrelevance": (1, 1)}


def test_items_of_other_suites_are_refused(tmp_path):
    (tmp_path / "suite.jsonl").write_text('{"id": "a", "prompt": "?", "target": "x"}\n')
    (tmp_path / "script").write_text('{"text": "x"}\n')
    evalcore("run", "suite.jsonl", "--backend", "scripted", "--script", "script", "--out", "run", cwd=tmp_path)
    done = evalcore("export", "run", "--format", "bfcl", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "item a is of no category, and BFCL has no such one" in done.stderr
    assert not list((tmp_path / "out").rglob("*"))
