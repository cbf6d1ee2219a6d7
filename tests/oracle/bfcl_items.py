"""The items of BFCL v4 with one turn, and the calls that their gold values give."""

import json
from pathlib import Path

import bfcl_eval

ONE_CALL = ("simple_python", "multiple", "live_simple", "live_multiple")
PARALLEL = ("parallel", "parallel_multiple", "live_parallel", "live_parallel_multiple")
SOURCE_TEXT = ("simple_java", "simple_javascript")
RELEVANCE = ("irrelevance", "live_irrelevance", "live_relevance")
CATEGORIES = ONE_CALL + PARALLEL + SOURCE_TEXT + RELEVANCE
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
    gold = {} if category in RELEVANCE else {
        one["id"]: one["ground_truth"] for one in lines(DATA / f"possible_answer/BFCL_v4_{category}.json")}
    items = [{**item, "target": gold.get(item["id"])} for item in lines(DATA / f"BFCL_v4_{category}.json")]
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


def gold_call(item, pick=0, optional=True, index=0):
    """(name, arguments): the accepted value at index `pick` of every parameter (the last where there are
    fewer); parameters that may be left out are left out when `optional` is false. `index`: of the expected call."""
    (name, accepted), = item["target"][index].items()
    properties = declared(item, name)
    arguments = {}
    for parameter, values in accepted.items():
        given = [value for value in values if value != ""]
        if not given or ("" in values and not optional):
            continue
        arguments[parameter] = plain(properties.get(parameter, {}), given[min(pick, len(given) - 1)])
    return name, arguments


def gold_calls(item, pick=0, optional=True):
    return [gold_call(item, pick, optional, index) for index in range(len(item["target"]))]


def java(kind, inner, value):
    """A gold value as source text of Java."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"' if kind == "String" else value
    if isinstance(value, dict):
        return "new HashMap<String, Object>() {{ " + " ".join(
            f'put("{key}", {java("String" if isinstance(one[0], str) else "any", None, one[0])});' for key, one in value.items()) + " }}"
    if isinstance(value, list):
        elements = ", ".join(java(inner if not isinstance(one, str) else "String", None, one) for one in value)
        return f"new {inner}[]{{{elements}}}" if kind == "Array" else f"new ArrayList<>(Arrays.asList({elements}))"
    return f"{value}L" if kind == "long" else f"{value}f" if kind == "float" else repr(value)


def javascript(kind, value):
    """A gold value as source text of JavaScript."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"' if kind == "String" else value
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {javascript("String", one[0])}' for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(javascript("String", one) for one in value) + "]"
    return repr(value)


def source_calls(item, category, pick=0, optional=True):
    """The gold call with its arguments as source text, as native calls have them and as texts do."""
    (name, accepted), = item["target"][0].items()
    native, text = {}, {}
    for parameter, schema in declared(item, name).items():
        given = [value for value in accepted.get(parameter, []) if value != ""]
        if not given or ("" in accepted[parameter] and not optional):
            continue
        value = given[min(pick, len(given) - 1)]
        kind, inner = schema["type"], schema.get("items", {}).get("type")
        source = java(kind, inner, value) if category == "simple_java" else javascript(kind, value)
        text[parameter] = source if source.replace("_", "").isalnum() or not isinstance(value, str) else f'"{value}"'
        native[parameter] = value if isinstance(value, str) else source
    return (name, native), (name, text)
