import json
import os
import pathlib
import signal
import sys

import pytest

# A shell has what it runs in the background ignore it, and what the tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MODELS = REPOSITORY / "tests/data/models/canned"
sys.path.insert(0, str(REPOSITORY / "python"))
sys.path.append(str(REPOSITORY / "tests/tools"))

for variable in ("EVALCORE_LIBRARY", "EVALCORE_LLAMA_SERVER", "EVALCORE_PROGRAM"):
    if not os.environ.get(variable):
        pytest.exit(f"{variable} is not set; run these tests with `scripts/test e2e`", returncode=2)
    # Tests start programs in other folders.
    os.environ[variable] = os.path.abspath(os.environ[variable])

# Before lm-eval is imported: everything is local.
os.environ.update({"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TQDM_DISABLE": "1"})


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    os.environ["HF_HOME"] = str(tmp_path_factory.mktemp("huggingface"))


@pytest.fixture
def server():
    from mock_server import Server

    with Server() as running:
        yield running


@pytest.fixture
def task(tmp_path):
    """Makes the config of a task whose documents are these."""

    def make(name, docs, **config):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
        return {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(path)}, "cache_dir": str(tmp_path / "datasets")},
            "test_split": "test",
            **config,
        }

    return make


@pytest.fixture
def evaluated():
    """What lm-eval makes of a task with a model: its results, and its samples without what names the run."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    import evalcore.lm_eval  # noqa: F401

    # To look up all of lm-eval's own tasks takes ten seconds each time.
    only_given = TaskManager(include_defaults=False)

    def run(model, model_args, config, **how):
        told = lm_eval.simple_evaluate(
            model=model, model_args=model_args, tasks=[config], task_manager=only_given, bootstrap_iters=100, **how
        )
        samples = [
            {name: one for name, one in sample.items() if name != "arguments" and not name.endswith("_hash")}
            for sample in told["samples"][config["task"]]
        ]
        return told["results"], samples

    return run
