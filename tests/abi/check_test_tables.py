#!/usr/bin/env python3
"""Checks that the tests that a table names exist: tests/data/TABLE.tsv names file and test case of each line.

usage: check_test_tables.py ROOT TABLE | check_test_tables.py --self-test
"""

import csv
import pathlib
import re
import sys

COLUMNS = ["id", "area", "behaviour", "file", "test case"]
AREAS = {
    "public_reports": {"stream", "tokens", "security", "retry", "concurrency", "resume", "prefix", "bindings", "parsing",
                       "scoring", "stats"},
    "engine_behaviours": {"scheduler", "cache", "phase"},
}
CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)|^\s*def (test_\w+)', re.MULTILINE)
LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')


def cases_of(source):
    """Names of test cases: C++ literals joined and without their escapes, Python functions."""
    for literals, function in CASE.findall(source):
        yield function or re.sub(r"\\(.)", r"\1", "".join(LITERAL.findall(literals)))


def problems_of(rows, areas, read):
    found, seen = [], set()
    for number, row in enumerate(rows, 2):
        if list(row) != COLUMNS or None in row.values() or not all(row.values()):
            found.append(f"line {number}: want {len(COLUMNS)} columns, none of them empty")
            continue
        if row["area"] not in areas:
            found.append(f"line {number}: the area {row['area']} is none of {sorted(areas)}")
        if tuple(row.values()) in seen:
            found.append(f"line {number}: stands twice")
        seen.add(tuple(row.values()))
        source = read(row["file"])
        if source is None:
            found.append(f"line {number}: there is no {row['file']}")
        elif row["test case"] not in cases_of(source):
            found.append(f'line {number}: {row["file"]} has no test case "{row["test case"]}" ({row["id"]})')
    return found


def self_test():
    sources = {
        "a.cpp": 'TEST_CASE("one") {}\nTEST_CASE(\n    "a \\"long\\" "\n    "name") {}\n// TEST_CASE two\n',
        "b.py": "def test_three():\n    pass\n",
    }

    def problems(file, case, area="stream"):
        return problems_of([dict(zip(COLUMNS, ["r#1", area, "does", file, case]))], {"stream"}, sources.get)

    good = [("a.cpp", "one"), ("a.cpp", 'a "long" name'), ("b.py", "test_three")]
    bad = [
        ("a.cpp", "two"),
        ("a.cpp", "on"),
        ("b.py", "three"),
        ("c.cpp", "one"),
        ("a.cpp", ""),
        ("a.cpp", "one", "taste"),
    ]
    found = [f"refused: {one}" for one in good if problems(*one)]
    return found + [f"not refused: {one}" for one in bad if len(problems(*one)) != 1]


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
    else:
        root, table = pathlib.Path(sys.argv[1]), sys.argv[2]

        def read(name):
            path = root / name
            return path.read_text() if path.is_file() else None

        with open(root / f"tests/data/{table}.tsv", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        found = problems_of(rows, AREAS[table], read) or ([] if rows else ["the table is empty"])
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
