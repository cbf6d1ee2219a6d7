"""Replies that are wrong, or right in an odd way. Each mutation turns (name, arguments, chosen parameter) into a
list of calls, or None where it does not apply. Those in TEXTS turn a reply's text into another text, those in TOGETHER all calls
of a reply and the same calls with other accepted values into a list of calls. OFF_TOPIC are texts about a function."""

import copy
import json


def changed(change):
    """A mutation of one argument's value; `change` returns None where it does not apply."""
    def mutate(name, arguments, chosen):
        if chosen is None:
            return None
        value = change(copy.deepcopy(arguments[chosen]))
        return None if value is None else [(name, {**arguments, chosen: value})]
    return mutate


def deep(kind, change):
    """Changes every value of a type, also those inside lists and dicts."""
    def walk(value):
        if type(value) is kind:
            return change(value)
        if isinstance(value, list):
            return [walk(one) for one in value]
        if isinstance(value, dict):
            return {key: walk(one) for key, one in value.items()}
        return value

    def apply(value):
        after = walk(value)
        return None if repr(after) == repr(value) else after
    return changed(apply)


def only(kind, change):
    return changed(lambda value: change(value) if type(value) is kind else None)


def first_dict(change):
    """Changes a dict, or the first one of a list of dicts."""
    def apply(value):
        if isinstance(value, dict):
            return change(value)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return [change(value[0]), *value[1:]]
        return None
    return changed(apply)


def without(arguments, chosen):
    return {key: value for key, value in arguments.items() if key != chosen}


CALLS = {
    "drop_argument": lambda n, a, c: None if c is None else [(n, without(a, c))],
    "drop_all_arguments": lambda n, a, c: [(n, {})],
    "rename_argument": lambda n, a, c: None if c is None else [(n, {**without(a, c), c + "x": a[c]})],
    "extra_argument": lambda n, a, c: [(n, {**a, "surplus": 1})],
    "reorder_arguments": lambda n, a, c: [(n, dict(reversed(a.items())))],
    "wrong_name": lambda n, a, c: [(n + "x", a)],
    "upper_name": lambda n, a, c: [(n.upper(), a)],
    "underscored_name": lambda n, a, c: [(n.replace(".", "_"), a)],
    "short_name": lambda n, a, c: [(n.rsplit(".")[-1], a)],
    "no_call": lambda n, a, c: [],
    "two_calls": lambda n, a, c: [(n, a), (n, a)],
    "value_as_text": changed(str),
    "value_as_source": changed(repr),
    "value_none": lambda n, a, c: None if c is None else [(n, {**a, c: None})],
    "value_empty_text": changed(lambda value: ""),
    "value_empty_list": changed(lambda value: []),
    "value_empty_dict": changed(lambda value: {}),
    "value_in_list": changed(lambda value: [value]),
    "value_true": changed(lambda value: True),
    "value_number": changed(lambda value: 7),
    "float_for_int": deep(int, float),
    "int_for_float": deep(float, int),
    "int_for_bool": deep(bool, int),
    "bool_for_int": deep(int, bool),
    "text_for_bool": deep(bool, lambda value: str(value).lower()),
    "next_int": deep(int, lambda value: value + 1),
    "negative": deep(int, lambda value: -value),
    "huge_int": only(int, lambda value: value + 2**70),
    "slightly_off": deep(float, lambda value: value + 1e-9),
    "upper_text": deep(str, str.upper),
    "lower_text": deep(str, str.lower),
    "blank_text": deep(str, lambda value: " " + value.replace(" ", "  ") + " "),
    "punctuated_text": deep(str, lambda value: "-".join(value) + ".,/_*^"),
    "colon_text": deep(str, lambda value: value + ":"),
    "other_quotes": deep(str, lambda value: "'" + value.replace('"', "'") + "'"),
    "double_quotes": deep(str, lambda value: value.replace("'", '"')),
    "accented_text": deep(str, lambda value: value.replace("e", "é").replace("i", "İ").replace("s", "Σ")),
    "newline_text": deep(str, lambda value: value + "\n"),
    "reverse_list": only(list, lambda value: value[::-1]),
    "tuple_for_list": only(list, tuple),
    "longer_list": only(list, lambda value: value + value[:1]),
    "shorter_list": only(list, lambda value: value[:-1]),
    "mixed_list": only(list, lambda value: [*value[:-1], "x"]),
    "nested_list": only(list, lambda value: [value]),
    "key_dropped": first_dict(lambda value: dict(list(value.items())[1:])),
    "key_added": first_dict(lambda value: {**value, "surplus": 1}),
    "key_renamed": first_dict(lambda value: {key.upper(): one for key, one in value.items()}),
    "keys_reversed": first_dict(lambda value: dict(reversed(value.items()))),
    "member_in_list": first_dict(lambda value: {key: [one] for key, one in value.items()}),
    "member_in_dict": first_dict(lambda value: {key: {"x": one} for key, one in value.items()}),
}

TEXTS = {
    "no_brackets": lambda text: text[1:-1],
    "one_bracket": lambda text: text[:-1],
    "fenced": lambda text: f"```\n{text}\n```",
    "fenced_as_python": lambda text: f"```python\n{text}\n```",
    "spaced": lambda text: f"\n  {text} \n",
    "carriage_return": lambda text: f"{text}\r\n",
    "trailing_comma": lambda text: text[:-2] + ",)]",
    "two_commas": lambda text: text[:-2] + ",,)]",
    "trailing_dot": lambda text: text + ".",
    "comment": lambda text: f"[ # the call\n{text[1:-1]} # done\n]",
    "prose_before": lambda text: f"Sure! {text}",
    "prose_after": lambda text: f"{text} This does it.",
    "prose": lambda text: "I am afraid that I cannot do this.",
    "empty": lambda text: "",
    "cut": lambda text: text[: len(text) // 2],
    "unclosed": lambda text: text[:-2],
    "nested": lambda text: f"[{text}]",
    "assigned": lambda text: f"result = {text}",
    "json": lambda text: json.dumps({"call": text}),
    "double_bracket": lambda text: text + "]",
    "positional": lambda text: text.replace("(", "(1, ", 1),
    "late_positional": lambda text: text[:-2] + ", 1)]",
    "unquoted": lambda text: text.replace("'", ""),
    "curly_quotes": lambda text: text.replace("'", "”"),
    "json_words": lambda text: text.replace("True", "true").replace("False", "false").replace("None", "null"),
    "colon_for_equals": lambda text: text.replace("=", ": "),
    "method": lambda text: "[api." + text[1:],
    "chained": lambda text: "[api()." + text[1:],
    "parenthesised": lambda text: f"({text[1:-1]})",
    "called_twice": lambda text: text[:-1] + "()]",
}

BROKEN_ARGUMENTS = {
    "cut_arguments": lambda arguments: arguments[:-1],
    "list_arguments": lambda arguments: f"[{arguments}]",
    "text_arguments": lambda arguments: json.dumps(arguments),
    "null_arguments": lambda arguments: "null",
    "spaced_arguments": lambda arguments: f" {arguments}\n",
    "repeated_arguments": lambda arguments: arguments[:-1] + ', "surplus": 1, "surplus": 2}',
    "arguments_and_more": lambda arguments: arguments + "}",
}

TOGETHER = {
    "swapped": lambda calls, other: calls[::-1],
    "rotated": lambda calls, other: [*calls[1:], calls[0]],
    "one_less": lambda calls, other: calls[:-1],
    "one_more": lambda calls, other: [*calls, calls[0]],
    "all_alike": lambda calls, other: [calls[0]] * len(calls),
    "last_twice": lambda calls, other: [*calls[1:], calls[-1]],
    "other_values": lambda calls, other: other[::-1],
    "other_values_for_one": lambda calls, other: [*other[1:], calls[0]],
    "last_without_arguments": lambda calls, other: [*calls[:-1], (calls[-1][0], {})],
    "last_renamed": lambda calls, other: [*calls[:-1], (calls[-1][0] + "x", calls[-1][1])],
}

OFF_TOPIC = {
    "nothing": lambda name: "",
    "blank": lambda name: " \n",
    "prose": lambda name: "I am afraid that none of the functions can do this.",
    "one_word": lambda name: "No",
    "empty_list": lambda name: "[]",
    "empty_dict": lambda name: "[{}]",
    "list_of_text": lambda name: "['" + name + "']",
    "name_only": lambda name: name,
    "call": lambda name: f"[{name}(a=1, b='x')]",
    "bare_call": lambda name: f"{name}()",
    "two_calls": lambda name: f"[{name}(a=1), {name}()]",
    "fenced_call": lambda name: f"```\n{name}(a=[1, 2])\n```",
    "call_in_prose": lambda name: f"I would call {name}(a=1) if I could.",
    "unclosed_call": lambda name: f"[{name}(a=1",
    "json": lambda name: json.dumps({"name": name, "arguments": {}}),
    "number": lambda name: "42",
}
