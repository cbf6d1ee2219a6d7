"""Replies to an item of BFCL: what its gold values give, and what mutations make of that."""

import json
import zlib

from bfcl_items import PARALLEL, RELEVANCE, SOURCE_TEXT, gold_call, gold_calls, source_calls
from bfcl_mutations import BROKEN_ARGUMENTS, CALLS, OFF_TOPIC, TEXTS, TOGETHER

GOLD = [(pick, optional) for pick in (0, 1, 99) for optional in (True, False)]


def text_of(calls, value=repr):
    return "[" + ", ".join(f"{name}({', '.join(f'{k}={value(v)}' for k, v in arguments.items())})"
                           for name, arguments in calls) + "]"


def native_of(calls):
    return [{"name": name.replace(".", "_"), "arguments": json.dumps(arguments)} for name, arguments in calls]


def as_source(value):
    return value if isinstance(value, str) else repr(value)


def chosen_parameter(item, mutation, arguments):
    """One parameter, another one for each mutation, the same in every run."""
    names = sorted(arguments)
    return names[zlib.crc32((item["id"] + mutation).encode()) % len(names)] if names else None


def both_forms(calls, value=repr):
    return [{"text": text_of(calls, value)}, {"calls": native_of(calls)}] if calls else [{"text": "[]"}]


def mutated(item, mutation, call):
    name, arguments = call
    return CALLS[mutation](name, arguments, chosen_parameter(item, mutation, arguments))


def broken(call):
    native, = native_of([call])
    for mutation, change in BROKEN_ARGUMENTS.items():
        if not (mutation == "repeated_arguments" and native["arguments"] == "{}"):
            yield mutation, {"calls": [{**native, "arguments": change(native["arguments"])}]}


def of_source_text(item, category):
    for pick, optional in GOLD:
        native, text = source_calls(item, category, pick, optional)
        yield "gold", {"text": text_of([text], as_source)}
        yield "gold", {"calls": native_of([native])}
    native, text = source_calls(item, category)
    for mutation in CALLS:
        if (calls := mutated(item, mutation, native)) is not None:
            yield mutation, {"calls": native_of(calls)} if calls else {"text": "[]"}
        if (calls := mutated(item, mutation, text)) is not None:
            yield mutation, {"text": text_of(calls, as_source)}
    for mutation, change in TEXTS.items():
        yield mutation, {"text": change(text_of([text], as_source))}
    yield from broken(native)


def of_relevance(item):
    name = item["function"][0]["name"] if item["function"] else "f"
    for mutation, texts in OFF_TOPIC.items():
        yield mutation, {"text": texts(name)}
    yield "native", {"calls": native_of([(name, {})])}
    yield "two native", {"calls": native_of([(name, {"a": 1}), (name, {})])}
    yield from broken((name, {"a": 1}))


def replies(item, category):
    """(mutation, {"text": …} or {"calls": …}), "gold" for what the gold values give."""
    if category in RELEVANCE:
        yield from of_relevance(item)
        return
    if category in SOURCE_TEXT:
        yield from of_source_text(item, category)
        return
    for pick, optional in GOLD:
        for reply in both_forms(gold_calls(item, pick, optional)):
            yield "gold", reply
    first, *others = gold_calls(item)
    for mutation in CALLS:
        if (calls := mutated(item, mutation, first)) is not None:
            for reply in both_forms([*calls, *others]):
                yield mutation, reply
    for mutation, change in TEXTS.items():
        yield mutation, {"text": change(text_of([first, *others]))}
    if category in PARALLEL:
        for mutation, change in TOGETHER.items():
            for reply in both_forms(change([first, *others], gold_calls(item, 99))):
                yield mutation, reply
    else:
        yield from broken(gold_call(item))
