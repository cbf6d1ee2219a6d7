#!/usr/bin/env python3
"""Code that a page shows stands, line for line, in the program that it names.

usage: check_snippets.py ROOT PAGE...

A block of code that belongs to a program follows a line `<!-- from examples/ask.c -->`. The blank lines and the
indentation of the program are the page's.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"<!-- from (\S+) -->\n+```\w+\n(.*?)```", re.DOTALL)


def problems_of(root, page):
    blocks = BLOCK.findall((root / page).read_text())
    if not blocks:
        yield f"{page} shows no code of a program"
    for program, shown in blocks:
        if shown not in (root / program).read_text():
            yield f"{page}: this is not in {program}:\n{shown}"


def main(root, *pages):
    problems = [problem for page in pages for problem in problems_of(pathlib.Path(root), page)]
    print("\n".join(problems) or f"{len(pages)} pages, as their programs have it")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
