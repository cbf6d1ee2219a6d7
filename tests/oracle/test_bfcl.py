"""The verdicts of evalcore's bfcl scorer against BFCL's own checker, on the gold answers to every item of the categories with
one turn and on what mutations make of them, as text and as native calls.

Where evalcore differs on purpose (none of it occurs below):
- a native call with empty arguments is a call without arguments; BFCL's handler raises;
- a native call may keep the dots of the function's name; BFCL takes dots or underscores by model;
- reasoning in front of a text is no part of it.
Where BFCL's checker raises, and so stops the whole evaluation, the reply counts as wrong on both sides.
"""

import pytest

from bfcl_agreement import compare
from bfcl_cases import replies
from bfcl_items import CATEGORIES, ONE_CALL, PARALLEL, RELEVANCE, load

# `scripts/bench bfcl-agreement` compares all. Irrelevance is one question asked 1,100 times over.
MOST_ITEMS = {category: 100 for category in RELEVANCE}


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_verdicts_are_those_of_bfcl(category):
    items = load(category)[: MOST_ITEMS.get(category)]
    cases = [(item, mutation, reply) for item in items for mutation, reply in replies(item, category)]
    told = compare(category, cases)
    assert told.disagreements == []
    gold = [right for (_, mutation, _), right in zip(cases, told.right) if mutation == "gold"]
    # BFCL itself does not accept every gold answer: some items accept nothing at all for some parameter.
    if category in ONE_CALL + PARALLEL:
        assert sum(gold) >= 0.95 * len(gold)
    assert 0 < sum(told.right) < len(cases)
