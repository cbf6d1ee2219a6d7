"""docs/lm-eval.md does what it says."""

import os
import re
import subprocess
import sys

import pytest
from conftest import MODELS, REPOSITORY

GUIDE = (REPOSITORY / "docs/lm-eval.md").read_text(encoding="utf-8")


def block(language):
    (only,) = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, flags=re.M | re.S)
    return only


@pytest.fixture
def run(tmp_path):
    (tmp_path / "model.gguf").symlink_to(MODELS / "canned-q8_0.gguf")
    cache = {"HF_HOME": f"{tmp_path}/cache"}
    packages = os.pathsep.join(filter(None, [str(REPOSITORY / "python"), os.environ.get("PYTHONPATH")]))

    def run(*command):
        return subprocess.run(command, cwd=tmp_path, env={**os.environ, **cache, "PYTHONPATH": packages},
                              capture_output=True, text=True, timeout=300)  # fmt: skip

    return run


def test_the_command_of_the_guide_scores_its_task(run, tmp_path):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/colours.yaml").write_text(block("yaml"))
    (tmp_path / "tasks/colours.jsonl").write_text(block("json"))
    done = run("sh", "-c", block("bash").replace("python ", f"{sys.executable} ", 1))
    assert done.returncode == 0, done.stderr
    # The tiny model knows neither document: that it was asked of both is what counts.
    assert re.search(r"\|colours *\|.*\|acc *\|.*\| *(0|0\.5|1)\|", done.stdout), done.stdout
    assert (tmp_path / "out/lm-eval/loglikelihood/run.db").exists()


def test_the_code_of_the_guide_prints_what_the_guide_says(run):
    done = run(sys.executable, "-c", block("python"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] + "\n" == block("text")
