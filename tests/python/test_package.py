"""The package as a wheel lays it out, and what the wheel is made by."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import REPOSITORY

import evalcore


@pytest.fixture
def installed(tmp_path):
    """A folder with the package and, in it, what the build puts there."""
    package = tmp_path / "site/evalcore"
    shutil.copytree(REPOSITORY / "python/evalcore", package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder, name, source in (
        ("lib", "libevalcore.so.1", os.environ["EVALCORE_LIBRARY"]),
        ("bin", "evalcore", os.environ["EVALCORE_PROGRAM"]),
    ):
        (package / folder).mkdir()
        (package / folder / name).symlink_to(os.path.realpath(source))
    return package.parent


def run(installed, program, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EVALCORE_")}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env={**environment, "PYTHONPATH": str(installed)}, text=True,
        capture_output=True, timeout=60,
    )  # fmt: skip


def test_the_library_inside_the_package_is_found(installed):
    done = run(installed, "import evalcore; print(evalcore.__version__, evalcore._abi.find())")
    assert done.stdout == f"{evalcore.__version__} {installed}/evalcore/lib/libevalcore.so.1\n", done.stderr


def test_the_console_script_is_the_native_command(installed):
    script = "from evalcore._command import main; main()"
    native = subprocess.run([os.environ["EVALCORE_PROGRAM"], "--version"], capture_output=True, text=True)
    done = run(installed, script, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, native.stdout, native.stderr)
    assert run(installed, script, "run").returncode == 2
    (installed / "evalcore/bin/evalcore").unlink()
    done = run(installed, script, "--version")
    assert done.returncode == 1 and "cannot run" in done.stderr


def test_the_wheel_is_of_this_version_and_of_this_package():
    toml = pytest.importorskip("tomllib").loads((REPOSITORY / "pyproject.toml").read_text())
    how = toml["tool"]["scikit-build"]
    version = re.search(how["metadata"]["version"]["regex"], (REPOSITORY / "CMakeLists.txt").read_text())["value"]
    assert version == evalcore.__version__
    assert [(REPOSITORY / folder / "py.typed").exists() for folder in how["wheel"]["packages"]] == [True]
    assert toml["project"]["scripts"] == {"evalcore": "evalcore._command:main"}


def test_every_public_name_says_what_it_is():
    bare = [name for name in evalcore.__all__ if not getattr(evalcore, name).__doc__]
    assert bare == []
