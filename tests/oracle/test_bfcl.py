"""The verdicts of evalcore's bfcl scorer against BFCL's own checker, on every gold item of the four categories that
expect one Python call and on what mutations make of it, as text and as native calls.

Where evalcore differs on purpose (none of it occurs below):
- a native call with empty arguments is a call without arguments; BFCL's handler raises;
- a native call may keep the dots of the function's name; BFCL takes dots or underscores by model.
Where BFCL's checker raises, and so stops the whole evaluation, the reply counts as wrong on both sides.
"""

import json
import zlib

import pytest

import bfcl_reference as reference
from bfcl_items import CATEGORIES, gold_call, load
from bfcl_mutations import BROKEN_ARGUMENTS, CALLS, TEXTS
from bfcl_reference import NATIVE, TEXT
from score_replies import score


@pytest.fixture(scope="module", params=CATEGORIES)
def suite(request):
    return request.param, load(request.param)


def text_of(calls):
    return "[" + ", ".join(f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"
                           for name, arguments in calls) + "]"


def native_of(calls):
    return [{"name": name.replace(".", "_"), "arguments": json.dumps(arguments)} for name, arguments in calls]


def compare(category, replies):
    """replies: (item, {"text": …} or {"calls": […]}). Returns how many were right."""
    verdicts = score(replies)
    assert len(verdicts) == len(replies)
    right = 0
    for (item, reply), ours in zip(replies, verdicts):
        if "text" in reply:
            theirs = reference.verdict(item, category, TEXT, reference.decode(reply["text"]))
        else:
            theirs = reference.verdict(item, category, NATIVE, reference.decode_native(reply["calls"]))
        assert ours["check"] == "" and ours["scored"], (item["id"], ours)
        assert (ours["value"] == 1) == theirs, (item["id"], reply, ours)
        assert (ours["reason"] == "") == theirs
        right += theirs
    return right


def chosen_parameter(item, mutation, arguments):
    """One parameter, another one for each mutation, the same in every run."""
    names = sorted(arguments)
    return names[zlib.crc32((item["id"] + mutation).encode()) % len(names)] if names else None


def both_forms(calls):
    return [{"text": text_of(calls)}, {"calls": native_of(calls)}] if calls else [{"text": "[]"}]


# BFCL itself does not accept every gold answer: seven items accept nothing at all for some parameter.
@pytest.mark.parametrize("pick", [0, 1, 99])
@pytest.mark.parametrize("optional", [True, False], ids=["all", "required"])
def test_gold(suite, pick, optional):
    category, items = suite
    replies = []
    for item in items:
        replies += [(item, reply) for reply in both_forms([gold_call(item, pick, optional)])]
    assert compare(category, replies) >= 0.95 * len(replies)


@pytest.mark.parametrize("mutation", CALLS)
def test_mutated_call(suite, mutation):
    category, items = suite
    replies = []
    for item in items:
        name, arguments = gold_call(item)
        calls = CALLS[mutation](name, arguments, chosen_parameter(item, mutation, arguments))
        if calls is not None:
            replies += [(item, reply) for reply in both_forms(calls)]
    compare(category, replies)


@pytest.mark.parametrize("mutation", TEXTS)
def test_mutated_text(suite, mutation):
    category, items = suite
    compare(category, [(item, {"text": TEXTS[mutation](text_of([gold_call(item)]))}) for item in items])


@pytest.mark.parametrize("mutation", BROKEN_ARGUMENTS)
def test_broken_arguments(suite, mutation):
    category, items = suite
    replies = []
    for item in items:
        call, = native_of([gold_call(item)])
        if not (mutation == "repeated_arguments" and call["arguments"] == "{}"):
            replies.append((item, {"calls": [{**call, "arguments": BROKEN_ARGUMENTS[mutation](call["arguments"])}]}))
    compare(category, replies)
