import json
import os
import pathlib
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(REPOSITORY / "tests/tools"), str(REPOSITORY / "bench")]
from local_servers import free_port, serving  # noqa: E402

MODEL = REPOSITORY / "tests/data/models/canned/canned.gguf"

for variable in ("EVALCORE_SITE", "EVALCORE_LLAMA_SERVER"):
    if not os.environ.get(variable):
        pytest.exit(f"{variable} is not set; run these tests with `scripts/test wheel`", returncode=2)


@pytest.fixture
def script(tmp_path):
    """Writes the file of a scripted backend."""

    def write(*lines):
        path = tmp_path / "script.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The URL of a llama.cpp server with one slot, which reuses nothing: its answers do not depend on who asked before."""
    port = free_port()
    command = [os.environ["EVALCORE_LLAMA_SERVER"], "--model", MODEL, "--host", "127.0.0.1", "--port", port,
               "--parallel", 1, "--ctx-size", 1024, "--threads", 1]  # fmt: skip
    with serving(port, command, tmp_path_factory.mktemp("server") / "log"):
        yield f"http://127.0.0.1:{port}/v1"
