import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys

import pytest

from recording_proxy import RecordingProxy
from store_copy import committed_replies

# A shell has what it runs in the background ignore it, and what the tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "tests/tools"))
from local_servers import free_port, serving  # noqa: E402

MODEL = REPOSITORY / "tests/data/models/canned/canned-q8_0.gguf"
# The tools that the tiny model knows.
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("get_weather", "now")]
SLOT_TOKENS = 1024


def required(variable):
    value = os.environ.get(variable)
    if not value:
        pytest.exit(f"{variable} is not set; run these tests with `scripts/test e2e`", returncode=2)
    return value


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """What the command keeps for the user is none of the tests' business."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def program():
    return required("EVALCORE_PROGRAM")


@pytest.fixture(scope="session")
def llama_server():
    return required("EVALCORE_LLAMA_SERVER")


@pytest.fixture(scope="session")
def mlx_server():
    return required("EVALCORE_MLX_SERVER")


@pytest.fixture(scope="session")
def retail():
    """The program built from examples/retail.cpp, a host of episodes."""
    return required("EVALCORE_RETAIL")


@pytest.fixture(scope="session")
def ask():
    """Asks one question with the program built from tests/tools/ask.cpp and returns what became of it."""
    asker = required("EVALCORE_ASK")

    def run(**question):
        done = subprocess.run([asker], input=json.dumps(question), text=True, capture_output=True, timeout=120, check=True)
        return json.loads(done.stdout)

    return run


@pytest.fixture
def evalcore(program, tmp_path):
    """Runs the command in a folder of its own and returns the finished process."""

    def run(*arguments, **options):
        return subprocess.run(
            [program, *map(str, arguments)], cwd=tmp_path, text=True, capture_output=True, timeout=120, **options
        )

    return run


@pytest.fixture
def canned(llama_server):
    """The arguments that run a suite on the real server with the tiny model."""
    return ["--backend", "llama-server", "--server-program", llama_server, "--model", MODEL,
            "--context-per-slot", "1024"]


@pytest.fixture(scope="session")
def server_port(llama_server, tmp_path_factory):
    """One real server for all tests that reach it by URL."""
    port = free_port()
    command = [llama_server, "--model", MODEL, "--host", "127.0.0.1", "--port", port, "--parallel", 4,
               "--ctx-size", 4096, "--threads", 1]
    with serving(port, command, tmp_path_factory.mktemp("server") / "log"):
        yield port


@pytest.fixture(scope="session")
def one_slot_port(llama_server, tmp_path_factory):
    """The same for tests that must know what was asked before, with the weights as they are."""
    port = free_port()
    command = [llama_server, "--model", MODEL.with_name("canned.gguf"), "--host", "127.0.0.1", "--port", port,
               "--parallel", 1, "--ctx-size", SLOT_TOKENS, "--threads", 1]
    with serving(port, command, tmp_path_factory.mktemp("server") / "log"):
        yield port


@pytest.fixture
def proxy_to(server_port):
    """Makes recording proxies in front of the shared server."""
    made = []

    def make(delay_s=0.0):
        made.append(RecordingProxy(server_port, delay_s))
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()


@pytest.fixture
def write_suite(tmp_path):
    def write(name, items):
        path = tmp_path / name
        path.write_text("".join(json.dumps(item) + "\n" for item in items))
        return path

    return write


def hi(number):
    """An item that the tiny model answers with "Hello!" whatever its number."""
    return {"id": f"i{number}", "messages": [{"role": "user", "content": "hi"}], "target": "Hello!"}


def question(number, system="Answer."):
    return {
        "id": f"q{number:03}",
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": f"number {number}"}],
        "target": "x",
        "params": {"temperature": 0, "max_tokens": 8},
    }


def stored_items(store, scratch):
    """Ids of the items whose reply is committed."""
    return set(committed_replies(store, scratch))


def stored_replies(folder):
    """The replies that a finished run committed, by item."""
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        return {item: json.loads(body) for item, body in database.execute(
            "SELECT items.item_id, replies.body FROM replies JOIN items ON items.item_key = replies.item_key")}


def rows(folder):
    """The rows of a run without what may differ between two runs."""
    lines = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("run_id", "timestamp", "wall_seconds")}
            for line in lines]


def summary(folder):
    return json.loads((folder / "summary.json").read_text())
