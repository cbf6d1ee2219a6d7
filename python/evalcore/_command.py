"""The console script `evalcore`: the native command of the wheel."""

import os
import pathlib
import sys


def main() -> None:
    """Becomes the command: its process id, signals and exit status are the native ones."""
    program = pathlib.Path(__file__).parent / "bin" / "evalcore"
    try:
        os.execv(program, [str(program), *sys.argv[1:]])
    except OSError as why:
        sys.exit(f"evalcore: cannot run {program}: {why.strerror}")
