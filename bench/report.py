#!/usr/bin/env python3
"""Prints a benchmark's figures and writes them to a file, with the machine and the commit."""

import json
import os
import pathlib
import platform
import subprocess
import sys


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def commit():
    """The commit, with a plus where files differ from it; null outside of a repository."""
    told = subprocess.run(
        ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"], capture_output=True, text=True
    )
    return told.stdout.strip() or None


def main():
    name, figures, file = sys.argv[1:]
    report = {
        "name": name,
        "figures": json.loads(figures),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "system": platform.platform(),
        },
        "commit": commit(),
    }
    for key, value in report["figures"].items():
        print(f"{key:24} {value:,.4g}" if isinstance(value, float) else f"{key:24} {value}")
    if file:
        pathlib.Path(file).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(file).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
