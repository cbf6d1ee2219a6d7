"""The table of functions is what the headers declare; another library is refused."""

import os
import re

import pytest
from conftest import REPOSITORY

from evalcore import _abi

PLAIN = {
    "void": "void", "evc_status": "status", "evc_str": "str", "evc_tokens": "tokens", "const char*": "cstr",
    "int32_t": "i32", "int32_t*": "i32*", "const evc_str*": "strs", "int64_t": "i64", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64",
    "uint64_t*": "u64*", "size_t": "size", "size_t*": "size*", "double": "f64",
    "float": "f32",
}  # fmt: skip


def word(kind):
    """The table's word for a type of C."""
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == "void*":
        return "handle"
    pointers = kind.count("*")
    assert kind.replace("const ", "").startswith("evc_") and pointers in (1, 2), kind
    return "handle" if pointers == 1 else "handles"


def declared():
    """Of each function in the headers the result and the arguments in the table's words."""
    found = {}
    for header in (REPOSITORY / "include/evalcore/c").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for result, name, given in re.findall(r"EVC_API\s+([\w\s*]+?)\s*(evc_\w+)\(([^()]*)\)\s*EVC_NOEXCEPT;", text):
            arguments = [] if given == "void" else [
                re.sub(r"\s*\w+$", "", " ".join(one.split())) for one in given.split(",")
            ]
            found[name] = (word(result), tuple(word(one) for one in arguments))
    return found


def test_every_function_is_declared_as_the_headers_have_it():
    headers = declared()
    assert len(headers) > 200
    assert {name: headers.get(name) for name in _abi.FUNCTIONS} == _abi.FUNCTIONS


def test_every_function_is_a_stable_export():
    lines = (REPOSITORY / "capi/exports.txt").read_text().splitlines()
    exported = {line.split()[0] for line in lines if line.endswith(" stable")}
    assert set(_abi.FUNCTIONS) <= exported


def test_the_version_here_is_the_headers():
    text = (REPOSITORY / "include/evalcore/c/abi.h").read_text()
    numbers = dict(re.findall(r"#define EVC_ABI_(MAJOR|MINOR) (\d+)u", text))
    assert (_abi.ABI_MAJOR, _abi.ABI_MINOR) == (int(numbers["MAJOR"]), int(numbers["MINOR"]))


@pytest.mark.parametrize("version", [0x0000_0009, 0x0002_0000])
def test_another_major_version_is_refused(version):
    with pytest.raises(ImportError, match="ABI"):
        _abi.check_version(version)


def test_a_later_minor_version_is_taken():
    _abi.check_version(0x0001_0003)


def test_a_file_that_is_not_the_library_is_refused(tmp_path):
    with pytest.raises(ImportError, match="cannot load"):
        _abi.load(str(tmp_path / "missing.so"))
    with pytest.raises(ImportError, match="evc_abi_version"):
        _abi.load("libc.so.6")


def test_the_library_is_looked_for_where_the_environment_says(monkeypatch):
    assert _abi.find() == os.environ["EVALCORE_LIBRARY"]
    monkeypatch.delenv("EVALCORE_LIBRARY")
    with pytest.raises(ImportError, match="EVALCORE_LIBRARY"):
        _abi.find()
