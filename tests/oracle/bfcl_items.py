"""The items of BFCL v4 that expect one Python call, and the replies that their gold values give."""

import json
from pathlib import Path

import bfcl_eval

CATEGORIES = ("simple_python", "multiple", "live_simple", "live_multiple")
DATA = Path(bfcl_eval.__file__).parent / "data"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def load(category):
    gold = {one["id"]: one["ground_truth"] for one in lines(DATA / f"possible_answer/BFCL_v4_{category}.json")}
    items = lines(DATA / f"BFCL_v4_{category}.json")
    return [{**item, "target": gold[item["id"]]} for item in items]


def declared(item, name):
    function = next(one for one in item["function"] if one["name"] == name)
    return function["parameters"]["properties"]


def plain(schema, value):
    """A gold value as a model would write it: the lists of choices inside dicts become their first choice."""
    def first(choices):
        return {key: one[0] for key, one in choices.items() if one and one[0] != ""}
    kind = schema.get("type")
    if kind == "dict" and isinstance(value, dict):
        return first(value)
    if kind == "array" and schema["items"]["type"] == "dict" and isinstance(value, list):
        return [first(one) if isinstance(one, dict) else one for one in value]
    return value


def gold_call(item, pick=0, optional=True):
    """(name, arguments): the accepted value at index `pick` of every parameter (the last where there are
    fewer); parameters that may be left out are left out when `optional` is false."""
    (name, accepted), = item["target"][0].items()
    properties = declared(item, name)
    arguments = {}
    for parameter, values in accepted.items():
        given = [value for value in values if value != ""]
        if not given or ("" in values and not optional):
            continue
        arguments[parameter] = plain(properties.get(parameter, {}), given[min(pick, len(given) - 1)])
    return name, arguments
