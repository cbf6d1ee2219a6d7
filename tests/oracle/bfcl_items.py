"""The items of BFCL v4 that expect one Python call, and the replies that their gold values give."""

import json
from pathlib import Path

import bfcl_eval

CATEGORIES = ("simple_python", "multiple", "live_simple", "live_multiple")
DATA = Path(bfcl_eval.__file__).parent / "data"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def without_prose(schema):
    """A declaration without its descriptions, which are most of its text and which no checker reads."""
    if isinstance(schema, list):
        return [without_prose(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_prose(value) for key, value in schema.items()
            if not (key == "description" and isinstance(value, str))}


def load(category):
    """The items with their gold calls ("target") and the constant part of what is sent about them ("row")."""
    gold = {one["id"]: one["ground_truth"] for one in lines(DATA / f"possible_answer/BFCL_v4_{category}.json")}
    items = [{**item, "target": gold[item["id"]]} for item in lines(DATA / f"BFCL_v4_{category}.json")]
    for item in items:
        item["row"] = json.dumps({"id": item["id"], "category": category, "target": item["target"],
                                  "functions": without_prose(item["function"])})[:-1]
    return items


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
