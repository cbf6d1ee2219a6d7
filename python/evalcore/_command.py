"""The console script `evalcore`: the native command of the wheel."""

import os
import pathlib
import sys


PROGRAM = pathlib.Path(__file__).parent / "bin" / "evalcore"


def main() -> None:
    """Becomes the command: its process id, signals and exit status are the native ones."""
    try:
        os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])
    except OSError as why:
        sys.exit(f"evalcore: cannot run {PROGRAM}: {why.strerror}")
