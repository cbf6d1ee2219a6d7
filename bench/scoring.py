# needs: bfcl_data
"""Judges the same replies by evalcore's scorers and by their Python originals, on one thread each: lm-eval's filters, metrics and
tasks, BFCL's own checker, and jsonschema. Both must find the same replies right. The table goes to standard error.

  NAME_items_per_s   items that evalcore judges in a second of processor time
  NAME_ratio         that over those of the original
  bootstrap_f1_s     processor seconds of 100,000 resamples of the F1 over 2,000 items, on one thread
  bootstrap_f1_ratio what lm-eval's way takes for them, from 100 of its resamples, over that
"""

import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import time
from importlib.metadata import distribution
from pathlib import Path
from unittest.mock import MagicMock

from jsonschema import Draft7Validator
from lm_eval.api.metrics import exact_match_hf_evaluate, f1_score
from lm_eval.filters.extraction import RegexFilter


def of_lm_eval(path):
    spec = importlib.util.spec_from_file_location(Path(path).parent.name, distribution("lm_eval").locate_file(f"lm_eval/tasks/{path}"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


for name in ("datasets", "jieba", "fuzzywuzzy", "rouge"):  # Of files of tasks one function each is wanted, which does not use them.
    sys.modules.setdefault(name, MagicMock())
MATH = of_lm_eval("hendrycks_math/utils.py")
LONGBENCH = of_lm_eval("longbench/metrics.py")

# Only now: it puts empty modules in the place of some that lm-eval needs.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/oracle"))

import bfcl_agreement  # noqa: E402
from bfcl_cases import text_of  # noqa: E402
from bfcl_items import ONE_CALL, PARALLEL, gold_calls, load  # noqa: E402

ITEMS = 1000
LEAST_SECONDS = 0.5
RESAMPLES = 100_000
THEIR_RESAMPLES = 100
WORDS = "the a river Paris of 1889 tower built in steel, when engineers' plans were shown city great an exhibition".split()


def exactly(got, wanted, **how):
    return exact_match_hf_evaluate(predictions=[got], references=[wanted], **how)["exact_match"] == 1


def filtered(pattern, text, group=0):
    return RegexFilter(pattern, group).apply([[text]], [{}])[0][0]


class Groups:
    """What is asked of both: of each group its scorer, its items, and the original as a function of an item."""

    def __init__(self):
        self.choose = random.Random(7)
        self.all = {}

    def words(self, count):
        return " ".join(self.choose.choices(WORDS, k=count))

    def add(self, name, scorer, original, items):
        self.all[name] = (scorer, original, list(items))

    def pairs(self, target, text, wrong):
        """Items of which seven in ten are right."""
        for _ in range(ITEMS):
            right = target()
            yield {"target": right, "text": text(right if self.choose.random() < 0.7 else wrong(right))}

    def fill(self):
        number = lambda: str(self.choose.randint(2, 9999))  # noqa: E731
        other = lambda right: right + "1"  # noqa: E731
        self.add("exact", "exact", lambda item: exactly(item["text"], item["target"]),
                 self.pairs(lambda: self.words(3), str, other))
        self.add("regex", {"name": "regex", "pattern": r"answer is \(?([ABCDEFGHIJ])\)?", "take": "first"},
                 lambda item: exactly(filtered(r"answer is \(?([ABCDEFGHIJ])\)?", item["text"]), item["target"]),
                 self.pairs(lambda: self.choose.choice("ABCDEFGHIJ"), lambda one: f"{self.words(60)} so the answer is ({one}).",
                            lambda right: "B" if right == "A" else "A"))
        self.add("letter", "letter",
                 lambda item: exactly(filtered(r"answer is \(?([ABCDEFGHIJ])\)?", item["text"]), item["target"]),
                 self.pairs(lambda: self.choose.choice("ABCDEFGHIJ"), lambda one: f"{self.words(60)} so the answer is ({one}).",
                            lambda right: "B" if right == "A" else "A"))
        self.add("numeric", "numeric",
                 lambda item: exactly(filtered(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", item["text"], -1), item["target"],
                                      regexes_to_ignore=[",", r"\$", "(?s).*#### ", r"\.$"]),
                 self.pairs(number, lambda one: f"{self.words(60)} of {number()} and {number()} are ${one}.", other))
        self.add("f1", "f1", lambda item: LONGBENCH.qa_f1_score(item["text"], item["target"]) == 1,
                 self.pairs(lambda: self.words(5), lambda one: f"The {one}.", lambda right: f"{right} river"))
        self.add("math", "math",
                 lambda item: MATH.is_equiv(MATH.remove_boxed(MATH.last_boxed_only_string(item["text"])), item["target"]),
                 self.pairs(lambda: f"\\frac{{{number()}}}{{{number()}}}",
                            lambda one: f"{self.words(60)}\nthus $\\boxed{{{one.replace('frac', 'dfrac')}}}$.", lambda right: f"2{right}"))
        schema = {"type": "object", "required": ["city", "year"], "additionalProperties": False,
                  "properties": {"city": {"type": "string", "minLength": 2}, "year": {"type": "integer", "minimum": 1800},
                                 "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}}}
        self.add("json_schema", "json_schema", lambda item: Draft7Validator(item["target"]).is_valid(json.loads(item["text"])),
                 ({"target": schema, "text": json.dumps({"city": self.words(2), "year": self.choose.choice([1889, 1700, "x"]),
                                                         "tags": self.choose.choices("abc", k=2)})} for _ in range(ITEMS)))
        self.add("bfcl", "bfcl", lambda item: bfcl_agreement.expected(item["of"], item["category"], {"text": item["text"]}),
                 (self.bfcl_item(category, item) for category in (*ONE_CALL, *PARALLEL) for item in load(category)[:200]))

    def bfcl_item(self, category, item):
        calls = gold_calls(item)
        if self.choose.random() < 0.3:
            calls = calls[:-1] or [("unknown", {})]
        return {**json.loads(item["row"] + "}"), "text": text_of(calls), "of": item, "category": category}


def rate_of(original, items):
    """How many the original finds right, and judges in a second."""
    right = sum(map(bool, map(original, items)))
    begun, rounds = time.process_time(), 0
    while time.process_time() - begun < LEAST_SECONDS:
        for item in items:
            original(item)
        rounds += 1
    return right, rounds * len(items) / (time.process_time() - begun)


def their_bootstrap_s():
    """lm-eval's own way: each resample is drawn and counted again; from 100 resamples."""
    pairs = [(i % 10 < 3, (i % 10 < 3) == (i // 10 % 10 < 7)) for i in range(2000)]
    draw = random.Random(0)
    begun = time.process_time()
    for _ in range(THEIR_RESAMPLES):
        f1_score(draw.choices(pairs, k=len(pairs)))
    return (time.process_time() - begun) * RESAMPLES / THEIR_RESAMPLES


def main():
    groups = Groups()
    groups.fill()
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as asked:
        for name, (scorer, _, items) in groups.all.items():
            for item in items:
                asked.write(json.dumps({**{key: value for key, value in item.items() if key != "of"}, "group": name, "scorer": scorer}) + "\n")
        asked.flush()
        ours = json.loads(subprocess.run([sys.argv[1], asked.name], check=True, capture_output=True, text=True).stdout)
    figures = {}
    print(f"{'scorer':14}{'items':>7}{'right':>7}{'items/s':>12}{'original':>12}{'ratio':>9}", file=sys.stderr)
    for name, (_, original, items) in groups.all.items():
        told = ours["groups"][name]
        right, rate = rate_of(original, items)
        if right != told["right"]:
            sys.exit(f"{name}: evalcore finds {told['right']} of {len(items)} right, the original {right}")
        figures[f"{name}_items_per_s"] = round(told["items_per_s"])
        figures[f"{name}_ratio"] = round(told["items_per_s"] / rate, 1)
        print(f"{name:14}{len(items):7}{right:7}{told['items_per_s']:12,.0f}{rate:12,.0f}{told['items_per_s'] / rate:9.1f}", file=sys.stderr)
    figures["bootstrap_f1_s"] = round(ours["bootstrap_f1_s"], 3)
    figures["bootstrap_f1_ratio"] = round(their_bootstrap_s() / ours["bootstrap_f1_s"])
    print(json.dumps(figures))


main()
