#!/usr/bin/env python3
"""Checks every #include against the order of the folders.

usage: check_layers.py ROOT | check_layers.py --self-test

A folder may include itself and the folders of a lower rank. Public headers name no third-party library,
Boost is seen only by sources that CMake lists as HEAVY (but for LIGHT_BOOST), a private header ("folder/x.hpp") belongs to its
folder, and only capi/ knows the headers of the C ABI.
"""
import pathlib
import re
import sys
import tempfile

RANK = {
    "base": 0,
    "chat": 1, "stats": 1,
    "wire": 2, "net": 2,
    "engine": 3,
    "prefix": 4, "backend": 4,
    "score": 5, "pool": 5,
    "run": 6, "serve": 6,
    "cli": 7, "capi": 7,
}  # fmt: skip
THIRD_PARTY = re.compile(r"(boost|fmt|nlohmann|openssl|re2|valijson|CLI)/|(pcre2|simdjson|sqlite3|utf8proc|zconf|zlib)\.h$")
# Asio without sockets costs a tenth of what it costs with them.
LIGHT_BOOST = re.compile(r"boost/asio/(executor_work_guard|io_context|post|steady_timer)\.hpp$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".h", ".hpp", ".cpp"}


def folder_of(path):
    """The folder that a file belongs to: include/evalcore/net/url.hpp and lib/net/loop.cpp are both net."""
    if path.parts[0] == "include":
        return path.parts[2] if len(path.parts) > 3 else "c"
    return path.parts[1] if path.parts[0] == "lib" else path.parts[0]


def heavy_sources(root):
    """Files listed after HEAVY in lib/*/CMakeLists.txt."""
    found = set()
    for cmake in root.glob("lib/*/CMakeLists.txt"):
        text = re.sub(r"#.*", "", cmake.read_text())
        for group in re.findall(r"\bHEAVY\b((?:\s+[\w./]+\.cpp)+)", text):
            found |= {(cmake.parent / name).relative_to(root) for name in group.split()}
    return found


def may_include(user, used):
    return user == used or RANK[used] < RANK[user]


def problems_of(path, text, is_heavy):
    """Yields what is wrong with the includes of one file, given relative to the root."""
    user = folder_of(path)
    public = path.parts[0] == "include"
    if user != "c" and user not in RANK:
        yield f"{path}: folder {user} has no rank; add it to RANK"
        return
    for bracket, name in INCLUDE.findall(text):
        what = f"{path}: includes {name}"
        if bracket == "<" and name.startswith("evalcore/"):
            used = name.split("/")[1] if name.count("/") > 1 else "c"
            if "c" in (user, used):
                if used != user and user != "capi":
                    yield f"{what}, but only capi/ joins the C ABI and the C++ folders"
            elif used not in RANK:
                yield f"{what}, but folder {used} has no rank"
            elif not may_include(user, used):
                yield f"{what}, but {user} may not include {used}"
        elif bracket == '"' and "/" not in name and user in ("cli", "capi"):
            continue
        elif bracket == '"' and name.split("/")[0] != user:
            yield f"{what}, but a private header is named \"{user}/…\" and used in {user} only"
        elif bracket == "<" and public and THIRD_PARTY.match(name):
            yield f"{what}, but a public header names no third-party library"
        elif bracket == "<" and name.startswith("boost/") and not (is_heavy or LIGHT_BOOST.match(name)):
            yield f"{what}, but only a source listed as HEAVY may include Boost"


def check(root):
    heavy = heavy_sources(root)
    files = [
        path.relative_to(root)
        for top in ("include/evalcore", "lib", "cli", "capi")
        for path in sorted((root / top).rglob("*"))
        if path.suffix in SOURCES
    ]
    texts = {path: (root / path).read_text() for path in files}
    # A private header may include Boost if all that is compiled with it is HEAVY.
    users = {}
    for path, text in texts.items():
        for bracket, name in INCLUDE.findall(text):
            if bracket == '"':
                users.setdefault(pathlib.Path("lib") / name, set()).add(path)

    def is_heavy(path, seen=frozenset()):
        if path.suffix == ".cpp":
            return path in heavy
        return all(is_heavy(user, seen | {path}) for user in users.get(path, ()) if user not in seen)

    return files, [problem for path in files for problem in problems_of(path, texts[path], is_heavy(path))]


GOOD = {
    "include/evalcore/base/json.hpp": "#include <string>\n",
    "include/evalcore/net/loop.hpp": "#include <evalcore/base/json.hpp>\n",
    "include/evalcore/wire/sse.hpp": "#include <evalcore/chat/reply.hpp>\n",
    "include/evalcore/chat/reply.hpp": "#include <evalcore/base/json.hpp>\n",
    "include/evalcore/evalcore.h": "#include <evalcore/c/abi.h>\n",
    "include/evalcore/c/abi.h": "#include <stdint.h>\n",
    "lib/net/CMakeLists.txt": "evalcore_layer(net\n  SOURCES url.cpp\n  HEAVY loop.cpp)\n",
    "lib/net/url.cpp": "#include <evalcore/net/loop.hpp>\n#include <boost/asio/post.hpp>\n",
    "lib/net/loop.cpp": '#include "net/shell.hpp"\n',
    "lib/net/shell.hpp": "#include <boost/asio.hpp>\n",
    "lib/net/parts.hpp": "#include <vector>\n",
    "cli/main.cpp": '#include "arguments.hpp"\n',
    "lib/run/store.cpp": "#include <sqlite3.h>\n#include <evalcore/wire/sse.hpp>\n",
    "capi/abi.cpp": "#include <evalcore/c/abi.h>\n#include <evalcore/net/loop.hpp>\n",
}  # fmt: skip

# One line added to one file of GOOD breaks one rule.
BAD = [
    ("include/evalcore/base/json.hpp", "#include <evalcore/chat/reply.hpp>", "base may not include chat"),
    ("include/evalcore/net/loop.hpp", "#include <evalcore/wire/sse.hpp>", "net may not include wire"),
    ("include/evalcore/wire/sse.hpp", "#include <evalcore/net/loop.hpp>", "wire may not include net"),
    ("include/evalcore/net/loop.hpp", "#  include <boost/asio.hpp>", "no third-party library"),
    ("include/evalcore/base/json.hpp", "#include <simdjson.h>", "no third-party library"),
    ("include/evalcore/base/json.hpp", "#include <openssl/evp.h>", "no third-party library"),
    ("lib/net/url.cpp", "#include <boost/asio/ip/tcp.hpp>", "listed as HEAVY"),
    ("lib/net/url.cpp", '#include "net/shell.hpp"', "lib/net/shell.hpp: includes boost/asio.hpp, but only a source"),
    ("lib/net/url.cpp", '#include "parts.hpp"', "a private header is named"),
    ("lib/run/store.cpp", '#include "net/parts.hpp"', "used in run only"),
    ("lib/run/store.cpp", "#include <evalcore/cli/options.hpp>", "run may not include cli"),
    ("lib/run/store.cpp", "#include <evalcore/evalcore.h>", "only capi/"),
    ("lib/run/store.cpp", "#include <evalcore/tools/x.hpp>", "no rank"),
    ("include/evalcore/c/abi.h", "#include <evalcore/base/json.hpp>", "only capi/"),
]


def problems_in(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return check(root)[1]


def self_test():
    failures = [f"a good tree is refused: {problem}" for problem in problems_in(GOOD)]
    for name, line, wanted in BAD:
        problems = problems_in(GOOD | {name: GOOD[name] + line + "\n"})
        if len(problems) != 1 or wanted not in problems[0]:
            failures.append(f"{name} + {line}: wanted one problem with '{wanted}', got {problems}")
    return failures


def main(argument):
    if argument == "--self-test":
        problems, done = self_test(), f"{len(BAD)} broken trees refused"
    else:
        files, problems = check(pathlib.Path(argument))
        done = f"{len(files)} files in order"
        if not files:
            problems = [f"no sources under {argument}"]
    print("\n".join(problems) or done)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
