#!/usr/bin/env python3
"""What libevalcore.so exports equals exports.txt and the declarations of include/evalcore/c; its SONAME is right.

usage: check_library.py LIBRARY EXPORTS HEADER_FOLDER SONAME
"""
import pathlib
import re
import subprocess
import sys


def exported(library):
    """Defined dynamic symbols with their version, without the version nodes themselves."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-2:] for line in text.splitlines()]
    return {name for kind, name in symbols if kind != "A"}


def listed(path):
    lines = [line.split() for line in pathlib.Path(path).read_text().splitlines() if line and not line.startswith("#")]
    return {f"{symbol}@@EVALCORE_{since}" for symbol, since, _ in lines}


def declared(folder):
    text = "".join(path.read_text() for path in sorted(pathlib.Path(folder).glob("*.h")))
    return set(re.findall(r"(?m)^EVC_API\b[^;(]*?(\w+)\(", text))


def soname(library):
    text = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return re.search(r"\(SONAME\).*\[(.+)\]", text).group(1)


def differences(what, got, wanted):
    return [f"{what}: unexpected {name}" for name in sorted(got - wanted)] + [
        f"{what}: missing {name}" for name in sorted(wanted - got)
    ]


def main(library, exports, headers, wanted_soname):
    wanted = listed(exports)
    problems = differences("exported symbols", exported(library), wanted)
    problems += differences("declared functions", declared(headers), {name.split("@")[0] for name in wanted})
    problems += differences("SONAME", {soname(library)}, {wanted_soname})
    print("\n".join(problems) or f"{len(wanted)} symbols, as listed")
    return 1 if problems or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
