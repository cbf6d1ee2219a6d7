#!/usr/bin/env python3
"""Sums JUnit files of ctest and pytest and prints "PASSED FAILED".

A doctest program counts as its test cases, anything else as one. A program that fails outside of its cases
(a crash, a sanitizer's report at exit) or that ran no case adds one failure. Names of skipped tests go to
stderr and count as neither.
"""
import re
import sys
import xml.etree.ElementTree as xml

DOCTEST = re.compile(r"^\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed", re.MULTILINE)


def count_case(case):
    """(passed, failed), or None for a skipped test."""
    broken = case.find("failure") is not None or case.find("error") is not None
    if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
        return None
    cases = DOCTEST.findall(case.findtext("system-out") or "")
    passed, failed = sum(int(p) for p, _ in cases), sum(int(f) for _, f in cases)
    if cases and passed + failed == 0 or broken and failed == 0:
        failed += 1
    elif not cases and not broken:
        passed = 1
    return passed, failed


def count(text):
    passed = failed = 0
    skipped = []
    for case in xml.fromstring(text).iter("testcase"):
        counted = count_case(case)
        if counted is None:
            skipped.append(case.get("name"))
        else:
            passed, failed = passed + counted[0], failed + counted[1]
    return passed, failed, skipped


def main(paths):
    counts = []
    for path in paths:
        with open(path, "rb") as file:
            counts.append(count(file.read()))
    for _, _, skipped in counts:
        for name in skipped:
            print(f"skipped: {name}", file=sys.stderr)
    print(sum(c[0] for c in counts), sum(c[1] for c in counts))


if __name__ == "__main__":
    main(sys.argv[1:])
