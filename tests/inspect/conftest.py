import json
import os
import pathlib
import socket
import subprocess
import time
import urllib.request

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = [os.environ["EVALCORE_LLAMA_SERVER"], "--model", MODEL, "--host", "127.0.0.1", "--port", port,
               "--parallel", 1, "--ctx-size", 1024, "--threads", 1]  # fmt: skip
    with open(log, "wb") as output:
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output)
    deadline = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
            break
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "the server was not ready within 120 s"
            time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/v1"
    process.terminate()
    process.wait(timeout=10)
