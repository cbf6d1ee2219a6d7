"""scripts/count_results.py on what ctest 3.25 and pytest write."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
sys.dont_write_bytecode = True
from count_results import count  # noqa: E402


def ctest(*cases):
    return "<testsuite>" + "".join(cases) + "</testsuite>"


def doctest(status, summary, extra=""):
    return f'<testcase name="p" status="{status}">{extra}<system-out>[doctest] test cases: {summary}\n</system-out></testcase>'


class count_results(unittest.TestCase):
    def test_a_doctest_program_counts_as_its_cases(self):
        text = ctest(doctest("run", " 12 | 12 passed | 0 failed | 0 skipped"))
        self.assertEqual(count(text), (12, 0, []))

    def test_a_plain_program_counts_as_one(self):
        text = ctest('<testcase name="p" status="run"><system-out>fine</system-out></testcase>')
        self.assertEqual(count(text), (1, 0, []))

    def test_failed_cases_are_failures(self):
        text = ctest(doctest("fail", "  5 |  3 passed | 2 failed | 0 skipped", '<failure message=""/>'))
        self.assertEqual(count(text), (3, 2, []))

    def test_a_crash_without_a_summary_is_one_failure(self):
        text = ctest('<testcase name="p" status="fail"><failure message="SEGFAULT"/><system-out/></testcase>')
        self.assertEqual(count(text), (0, 1, []))

    def test_a_report_after_good_cases_is_a_failure(self):
        text = ctest(doctest("fail", " 4 | 4 passed | 0 failed |", '<failure message=""/>'))
        self.assertEqual(count(text), (4, 1, []))

    def test_a_program_without_cases_fails(self):
        text = ctest(doctest("run", " 0 | 0 passed | 0 failed | 7 skipped"))
        self.assertEqual(count(text), (0, 1, []))

    def test_skipped_tests_are_named_and_not_counted(self):
        text = ctest('<testcase name="slow" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>')
        self.assertEqual(count(text), (0, 0, ["slow"]))

    def test_pytest(self):
        text = """<testsuites><testsuite tests="4"><testcase name="a"/><testcase name="b"><failure message="x"/>
            </testcase><testcase name="c"><error message="x"/></testcase><testcase name="d"><skipped/></testcase>
            </testsuite></testsuites>"""
        self.assertEqual(count(text), (1, 2, ["d"]))


if __name__ == "__main__":
    unittest.main()
