import json
import os
import pathlib
import signal
import sys

import pytest

# A shell has what it runs in the background ignore it, and what the tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MODEL = REPOSITORY / "tests/data/models/canned/canned-q8_0.gguf"
sys.path.insert(0, str(REPOSITORY / "python"))

for variable in ("EVALCORE_LIBRARY", "EVALCORE_PROGRAM"):
    if not os.environ.get(variable):
        pytest.exit(f"{variable} is not set; run these tests with `scripts/test e2e`", returncode=2)
    # Tests start programs in other folders.
    os.environ[variable] = os.path.abspath(os.environ[variable])


@pytest.fixture
def write_lines(tmp_path):
    """Writes one JSON object a line and returns the path."""

    def write(name, *lines):
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def scripted(write_lines):
    """Opens a backend that plays these lines (docs/suite.md)."""
    import evalcore

    def make(*lines):
        return evalcore.Backend("scripted", script=write_lines("script.jsonl", *lines))

    return make
