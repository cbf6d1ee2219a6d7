"""The wheel: what it holds, what it needs, and that it works where nothing else of evalcore is."""

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(evalcore VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text())[1]
# What a system without evalcore has: neither its variables nor a way to its sources.
CLEAN = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}

if not os.environ.get("EVALCORE_WHEELS"):
    pytest.exit("EVALCORE_WHEELS is not set; run these tests with `scripts/test wheel`", returncode=2)
BUILT = pathlib.Path(os.environ["EVALCORE_WHEELS"])


def only(pattern):
    (found,) = BUILT.glob(pattern)
    return found


def members(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel():
    return members(only("tree/*.whl"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A new environment with the wheel alone; pip is told not to look for anything else."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=120)
    command = [folder / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index"]
    subprocess.run([*command, only("tree/*.whl")], check=True, timeout=120, env=CLEAN)
    return folder


def test_its_version_is_that_of_the_project_and_it_serves_every_python(wheel):
    assert re.fullmatch(rf"evalcore-{re.escape(VERSION)}-py3-none-\w+\.whl", only("tree/*.whl").name)
    told = wheel[f"evalcore-{VERSION}.dist-info/METADATA"].decode()
    assert f"\nVersion: {VERSION}\n" in told
    assert "Requires-Dist" not in re.sub(r"Requires-Dist: .*extra == .*", "", told)
    entries = wheel[f"evalcore-{VERSION}.dist-info/entry_points.txt"].decode()
    assert "[inspect_ai]\nevalcore = evalcore.inspect_ai\n" in entries


def test_it_holds_the_package_the_library_the_command_and_llama_cpp(wheel):
    sources = REPOSITORY / "python"
    package = {str(path.relative_to(sources)) for path in sources.rglob("*") if path.suffix in (".py", ".typed")}
    inside = {name for name in wheel if not name.startswith(f"evalcore-{VERSION}.dist-info/")}
    llama = {name for name in inside if re.fullmatch(r"evalcore/lib/lib(llama|ggml)[\w-]*\.so\.\d+", name)}
    assert {"evalcore/lib/libllama.so.0", "evalcore/lib/libggml.so.0", "evalcore/lib/libggml-base.so.0"} <= llama
    assert inside == package | llama | {
        "evalcore/lib/libevalcore.so.1",
        "evalcore/lib/LICENSE.llama.cpp",
        "evalcore/bin/evalcore",
    }


def test_its_programs_find_each_other_beside_them_and_the_rest_in_the_system(installed):
    """A path of the machine that built it would be found there and nowhere else."""
    (package,) = installed.glob("lib/python*/site-packages/evalcore")
    programs = [*package.glob("lib/*.so.*"), package / "bin/evalcore"]
    assert len(programs) >= 5
    for program in programs:
        dynamic = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True).stdout
        paths = set(re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic))
        assert paths <= {"$ORIGIN", "$ORIGIN/../lib"}, program
        linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True, env=CLEAN).stdout
        assert "not found" not in linked, linked
        found = re.findall(r"=> (/\S+)", linked)
        elsewhere = [path for path in found if not path.startswith(("/lib", "/usr/lib", f"{package}/"))]
        assert elsewhere == [], program


def test_it_asks_a_backend_where_nothing_else_of_evalcore_is(installed, tmp_path):
    (tmp_path / "script.jsonl").write_text('{"text": "Paris"}\n')
    program = """
import evalcore
with evalcore.Backend("scripted", script="script.jsonl") as backend, evalcore.Pool(backend) as pool:
    print(evalcore.__version__, pool.submit("Capital of France?").result(10).text)
"""
    done = subprocess.run(
        [installed / "bin/python", "-c", program], cwd=tmp_path, env=CLEAN, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr, done.returncode) == (f"{VERSION} Paris\n", "", 0)


def test_it_brings_the_command_with_the_engine(installed, tmp_path):
    def command(*words):
        return subprocess.run(
            [installed / "bin/evalcore", *words], cwd=tmp_path, env=CLEAN, capture_output=True, text=True, timeout=60
        )

    assert command("--version").stdout == f"evalcore {VERSION}\n"
    (tmp_path / "s.jsonl").write_text('{"id": 1, "prompt": "hi", "target": "Hello!"}\n')
    model = REPOSITORY / "tests/data/models/canned/canned-q8_0.gguf"
    how = ["--context-per-slot", "1024", "--temperature", "0", "--max-tokens", "8", "--out", "out"]
    done = command("run", "s.jsonl", "--model", model, *how)
    assert done.returncode == 0, done.stderr
    assert '"score":1' in (tmp_path / "out/summary.json").read_text().replace(" ", "")


def reproducible(wheel):
    """Members by name. Debug information names the folder of a build, and RECORD has the hash of each member."""
    return {
        name: None if content.startswith(b"\x7fELF") or name.endswith("/RECORD") else content
        for name, content in wheel.items()
    }


def test_the_source_package_makes_the_same_wheel(wheel):
    assert reproducible(members(only("rebuilt/*.whl"))) == reproducible(wheel)
    assert only("rebuilt/*.whl").name == only("tree/*.whl").name


def test_the_source_package_holds_what_a_build_needs_and_no_more():
    with tarfile.open(only("source/*.tar.gz")) as archive:
        top = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert top == {
        "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "HACKING.md", "LICENSE", "PKG-INFO",
        "README.md", "capi", "cli", "cmake", "include", "lib", "pyproject.toml", "python",
    }  # fmt: skip
