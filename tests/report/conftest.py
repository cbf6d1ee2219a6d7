import os
import pathlib

import pytest

from browser import Page, start_browser
from runs import Runs

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MODEL = REPOSITORY / "tests/data/models/canned/canned-q8_0.gguf"


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    named = os.environ.get("EVALCORE_PROGRAM")
    if not named:
        pytest.exit("EVALCORE_PROGRAM is not set; run these tests with `scripts/test report`", returncode=2)
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    return str(pathlib.Path(named).resolve())


@pytest.fixture
def runs(program, tmp_path):
    return Runs(program, tmp_path)


@pytest.fixture(scope="session")
def driver():
    made = start_browser()
    yield made
    made.quit()


@pytest.fixture
def open_page(driver):
    return lambda path, **how: Page(driver, path, **how)
