"""Compares the verdicts of evalcore's bfcl scorer with those of BFCL's checker."""

from types import SimpleNamespace

import bfcl_reference as reference
from bfcl_reference import NATIVE, TEXT
from score_replies import score


def expected(item, category, reply):
    if "calls" in reply:
        return reference.verdict(item, category, NATIVE, reference.decode_native(reply["calls"]))
    return reference.verdict(item, category, TEXT, reference.decode(reply["text"], category))


def compare(category, cases):
    """cases: (item, mutation, reply). What BFCL says of each ("right"), and where evalcore says otherwise."""
    verdicts = score([(item, reply) for item, _, reply in cases])
    assert len(verdicts) == len(cases)
    told = SimpleNamespace(right=[], disagreements=[])
    for (item, mutation, reply), ours in zip(cases, verdicts):
        theirs = expected(item, category, reply)
        told.right.append(theirs)
        sound = ours["check"] == "" and ours["scored"] and (ours["reason"] == "") == (ours["value"] == 1)
        if not sound or (ours["value"] == 1) != theirs:
            told.disagreements.append((item["id"], mutation, reply, theirs, ours))
    return told
