"""scripts/throughput_smoke.py and its report: what is asked for, and what two runs of figures made by hand come to."""

import argparse
import contextlib
import io
import os
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
sys.dont_write_bytecode = True
import throughput_report  # noqa: E402
import throughput_smoke  # noqa: E402


def run(wall_s, answers, evaluation="parity", cached=0):
    identity = {"evaluation": evaluation} if evaluation else {}
    summary = {
        "backend": {"selector": "embedded", "dialect": "generic", "model": "m", "identity": identity},
        "items": 2, "concurrency": 4, "wall_s": wall_s, "processor_s": wall_s, "prompt_tokens": 20, "cached_tokens": cached,
        "fed_tokens": 20 - cached, "completion_tokens": 4, "mean_ttft_s": 0.5, "score": 0.5, "errors": 0,
        "prefix": {"predicted_cached_tokens": cached},
    }  # fmt: skip
    replies = {f"i{n}": {"text": text, "timing": {}} for n, text in enumerate(answers)}
    return summary, replies


def report(sequential, concurrent, **options):
    asked = argparse.Namespace(**{"mock": False, "delay_ms": None, "min_speedup": 3.0, **options})
    return throughput_report.report_of(asked, sequential, concurrent)


def ended(words, **environment):
    """Exit status and standard error of the script, with nothing else in the environment."""
    said = io.StringIO()
    argv = mock.patch.object(sys, "argv", ["smoke", *words])
    with argv, mock.patch.dict(os.environ, environment, clear=True), contextlib.redirect_stderr(said):
        try:
            return throughput_smoke.main(), said.getvalue()
        except SystemExit as end:
            return end.code, said.getvalue()


class smoke(unittest.TestCase):
    def test_what_nobody_thought_of_is_no_missed_bar(self):
        with mock.patch.object(throughput_smoke, "measure", side_effect=RuntimeError("the unthinkable")):
            self.assertEqual(ended(["--mock"]), (2, "eval-throughput-smoke: RuntimeError: the unthinkable\n"))

    def test_options_of_the_sequential_run_are_words_and_a_quote_that_is_open_is_an_error(self):
        asked = throughput_smoke.options_from(["--sequential", "--model 'a b'"])
        self.assertEqual(asked.sequential, ["--model", "a b"])
        status, said = ended(["--sequential", "'x"])
        self.assertEqual(status, 2)
        self.assertIn("--sequential: No closing quotation", said)

    def test_by_itself_it_wants_only_what_the_options_leave_open(self):
        here = __file__
        for words, environment, missing in (
            (["--suite", here, "--model", "m"], {}, "EVALCORE_PROGRAM not set"),
            (["--suite", here], {"EVALCORE_PROGRAM": "p"}, "EVALCORE_MODEL not set"),
            (["--model", "m"], {"EVALCORE_PROGRAM": "p"}, "EVALCORE_BFCL not set"),
            ([], {}, "EVALCORE_MODEL and EVALCORE_BFCL and EVALCORE_PROGRAM not set"),
        ):
            status, said = ended(words, **environment)
            self.assertEqual(status, 2)
            self.assertIn(f"smoke: {missing}", said)

    def test_the_mock_is_as_upstream_s_unless_told(self):
        asked = throughput_smoke.options_from(["--mock"])
        self.assertEqual((asked.requests, asked.concurrency, asked.delay_ms, asked.min_speedup), (24, 8, 80, 3.0))

    def test_the_speedup_is_the_sequential_time_over_the_concurrent_one(self):
        made = report(run(9.0, ["a", "b"]), run(2.0, ["a", "b"], cached=10))
        self.assertEqual((made["speedup"], made["passed"], made["outputs_equal"]), (4.5, True, 2))
        self.assertEqual((made["sequential"]["fed_tokens"], made["concurrent"]["fed_tokens"]), (20, 10))

    def test_the_bar_itself_passes_and_less_does_not(self):
        self.assertTrue(report(run(6.0, "ab"), run(2.0, "ab"))["passed"])
        self.assertFalse(report(run(5.9, "ab"), run(2.0, "ab"))["passed"])

    def test_speed_does_not_pass_where_an_answer_changed_that_must_not(self):
        made = report(run(9.0, ["a", "b"]), run(1.0, ["a", "c"]))
        self.assertEqual((made["outputs_equal"], made["outputs_changed_where_none_may"], made["passed"]), (1, True, False))

    def test_servers_and_fast_may_change_answers(self):
        for evaluation in (None, "fast"):
            made = report(run(9.0, ["a", "b"], evaluation), run(1.0, ["a", "c"], evaluation))
            self.assertEqual((made["outputs_equal"], made["passed"]), (1, True))

    def test_what_a_backend_does_not_tell_is_unknown(self):
        made = report(run(9.0, "ab"), run(1.0, "ab"))
        self.assertIsNone(made["concurrent"]["median_ttft_s"])

    def test_a_sequential_run_that_found_a_cache_is_told(self):
        self.assertIn("found a part", report(run(9.0, "ab", cached=10), run(1.0, "ab", cached=10))["note"])
        self.assertIn("from its beginning", report(run(9.0, "ab"), run(1.0, "ab", cached=10))["note"])
        silent = run(9.0, "ab")
        silent[0]["cached_tokens"] = silent[0]["fed_tokens"] = None
        self.assertIn("does not tell", report(silent, run(1.0, "ab"))["note"])


if __name__ == "__main__":
    unittest.main()
