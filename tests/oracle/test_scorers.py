"""evalcore's scorers math and f1 against lm-eval's own function for the MATH benchmark and SQuAD's published formula."""

import importlib.util
import random
import re
import string
import sys
from collections import Counter
from importlib.metadata import distribution
from unittest.mock import MagicMock

import pytest
from score_replies import score_texts

# Of lm-eval one file of a task is wanted, which imports what reads data sets.
sys.modules.setdefault("datasets", MagicMock())
_file = distribution("lm_eval").locate_file("lm_eval/tasks/hendrycks_math/utils.py")
_spec = importlib.util.spec_from_file_location("hendrycks_math", _file)
hendrycks_math = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hendrycks_math)

PIECES = ["1", "2", "10", "0.5", ".5", "x", "y", "\\frac", "\\dfrac", "\\tfrac", "{", "}", "\\sqrt", "\\pi", " ", "/", "=", "(", ")", ",",
          "^", "\\left(", "\\right)", "\\text{ cm}", "\\%", "\\$", "\\!", "^\\circ", "+", "-", "\\cdot", "12", "3/4", "{1}{2}", "1/2"]


def made_pairs(seed, count):
    choose = random.Random(seed)
    for _ in range(count):
        one = "".join(choose.choices(PIECES, k=choose.randint(1, 7)))
        other = one
        for old, new in choose.sample([("\\frac", "\\dfrac"), (" ", ""), ("{1}{2}", "12"), ("0.5", ".5"), ("\\left(", "("), ("1/2", "\\frac12"),
                                       ("\\sqrt2", "\\sqrt{2}"), ("x", "y"), ("2", "2 "), ("\\!", "")], 3):
            other = other.replace(old, new)
        yield one, other


@pytest.mark.parametrize("seed", range(5))
def test_math_is_equal_where_lm_eval_says_so(seed):
    # A target without braces to be taken for a box, and with more than blanks in it, reads as it stands.
    pairs = [(one, other) for one, other in made_pairs(seed, 2000)
             if one.strip() and other.strip() and "$" not in one + other and "boxed" not in one + other and one == one.strip() and other == other.strip()]
    verdicts = score_texts("math", [(one, f"\\boxed{{{other}}}" if other.count("{") == other.count("}") and balanced(other) else other)
                                    for one, other in pairs])
    theirs = [hendrycks_math.is_equiv(one, other) for one, other in pairs]
    ours = [verdict["value"] == 1 for verdict in verdicts]
    missed = [pair for pair, a, b in zip(pairs, ours, theirs) if b and not a]
    assert missed == []
    # What evalcore finds equal beyond that are numbers, tuples and sets, and what lm-eval's rules cannot read.
    more = [pair for pair, a, b in zip(pairs, ours, theirs) if a and not b]
    unexplained = [pair for pair in more if not (any(map(unreadable, pair)) or all(map(number_like, pair)) or all(map(collection_like, pair)))]
    assert unexplained == []
    assert sum(theirs) > 100


def unreadable(text):
    try:
        hendrycks_math.strip_string(text)
    except Exception:
        return True
    return False


def number_like(text):
    return re.match(r"^[-+.,0-9eE$ ]+$", text) is not None


def collection_like(text):
    return re.match(r"^(\\?\{|[(\[])", hendrycks_math.strip_string(text)) is not None


def balanced(text):
    depth = 0
    for c in text:
        depth += (c == "{") - (c == "}")
        if depth < 0:
            return False
    return depth == 0


def squad_normal(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad_f1(got, wanted):
    got, wanted = squad_normal(got), squad_normal(wanted)
    if not got or not wanted:
        return float(got == wanted)
    same = sum((Counter(got) & Counter(wanted)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(got), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


WORDS = ["the", "a", "An", "cat", "Cat.", "dog's", "42", "über", "“the", "mat-", "x\u00a0y", "ÉTÉ", "İstanbul", "—", "!", "naïve,", "東京", "\n"]


def test_f1_is_that_of_squad():
    choose = random.Random(1)
    pairs = [(" ".join(choose.choices(WORDS, k=choose.randint(1, 8))), " ".join(choose.choices(WORDS, k=choose.randint(1, 8))))
             for _ in range(3000)]
    # A text of nothing but articles keeps them here and loses them there.
    pairs = [(one, other) for one, other in pairs if squad_normal(one) and squad_normal(other)]
    for (target, text), verdict in zip(pairs, score_texts("f1", pairs)):
        assert verdict["value"] == pytest.approx(squad_f1(text, target), abs=1e-12), (target, text)
