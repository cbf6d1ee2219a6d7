"""scripts/demo_report.py: which demos go on, and what it says of one that did."""

import contextlib
import io
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
sys.dont_write_bytecode = True
import demo_report  # noqa: E402


def figures(processor_s, reused=0, usd=0.01, answered=2):
    return {"backend": {"selector": "embedded"}, "items": 2, "answered": answered, "reused": reused, "wall_s": 1.0, "processor_s": processor_s,
            "items_per_s": None, "mean_ttft_s": None, "fed_tokens": 10, "cached_tokens": 4, "completion_tokens": 7, "score": 0.5, "errors": 0,
            "cost": {"spent_usd": usd}, "prefix": {"predicted_cached_tokens": 4}}  # fmt: skip


class demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def leave(self, folder, run, first_token_s=1.0, cached=0):
        def reply(text):
            timing = {"first_token_ns": first_token_s * 1e9}
            return json.dumps({"text": text, "timing": timing, "usage": {"cached_tokens": cached}})

        into = self.out / folder
        into.mkdir(exist_ok=True)
        (into / "summary.json").write_text(json.dumps(run))
        with contextlib.closing(sqlite3.connect(into / "run.db")) as database:
            database.executescript("CREATE TABLE items (item_key, item_id); CREATE TABLE replies (item_key, body);")
            database.executemany("INSERT INTO items VALUES (?, ?)", [("k", "i"), ("l", "j")])
            database.executemany(
                "INSERT INTO replies VALUES (?, ?)", [("k", reply("yes")), ("l", reply("no"))]
            )
            database.commit()

    def report(self, *arguments):
        said = io.StringIO()
        with (
            mock.patch.object(sys, "argv", ["demo_report.py", str(self.out), *arguments]),
            contextlib.redirect_stdout(said),
        ):
            demo_report.main()
        return said.getvalue()

    def test_a_demo_is_whole_once_it_has_its_report(self):
        self.assertFalse(demo_report.is_whole(self.out))
        for folder in demo_report.RUNS.values():
            self.leave(folder, figures(1.0))
        self.assertFalse(demo_report.is_whole(self.out))
        self.report()
        self.assertTrue(demo_report.is_whole(self.out))
        with self.assertRaises(SystemExit) as status:
            self.report("--whole")
        self.assertEqual(status.exception.code, 0)

    def test_a_run_is_reused_once_all_of_it_is_answered(self):
        self.assertFalse(demo_report.is_answered(self.out))
        self.leave(".", figures(1.0, answered=1))
        self.assertFalse(demo_report.is_answered(self.out))
        (self.out / "summary.json").write_text(json.dumps(figures(1.0)))
        self.assertTrue(demo_report.is_answered(self.out))

    def test_the_table_has_costs_and_a_resumed_run_says_so_and_is_compared_by_what_an_item_takes(self):
        self.leave("sequential", figures(4.0, reused=1, usd=0.02))
        self.leave("cached", figures(2.0))
        self.leave(".", figures(1.0, usd=0.005))
        said = self.report()
        self.assertIn("example USD", said)
        self.assertIn("0.020000", said)
        self.assertIn("A was interrupted: 1 of 2 items are reused", said)
        self.assertIn("In processor time B is 8.00 x as fast as A and 2.00 x as fast as A'", said)
        kept = json.loads((self.out / "summary.json").read_text())
        self.assertEqual((kept["usd_sequential"], kept["usd_batched"], kept["speedup"]), (0.02, 0.005, 8.0))

    def test_first_tokens_from_the_prefix_are_those_of_replies_with_cached_tokens(self):
        self.leave("sequential", figures(4.0), first_token_s=8.0)
        self.leave("cached", figures(2.0), first_token_s=0.5, cached=4)
        self.leave(".", figures(1.0))
        self.assertIn("median: 8.00 s from the beginning of the prompt, 0.50 s from the shared prefix", self.report())
        kept = json.loads((self.out / "summary.json").read_text())
        self.assertEqual((kept["ttft_cold_s"], kept["ttft_follower_s"]), (8.0, 0.5))

    def test_no_first_token_from_a_prefix_is_unknown(self):
        for folder in demo_report.RUNS.values():
            self.leave(folder, figures(1.0))
        self.assertIn("unknown s from the shared prefix", self.report())

    def test_a_run_that_answered_nothing_itself_is_not_compared(self):
        self.leave("sequential", figures(None, reused=2))
        self.leave("cached", figures(2.0))
        self.leave(".", figures(4.0))
        self.assertIn("B is unknown x as fast as A and", self.report())


if __name__ == "__main__":
    unittest.main()
