"""One request through OpenAI's route and through Anthropic's of one server: the same reply.

Every request that both formats can express. Left out is what changes the prompt on the way: several system turns,
which Anthropic's format joins, and turns without content, which it does not know.
"""

import json

import pytest

from conftest import TOOLS

GREEDY = {"temperature": 0, "max_tokens": 80}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def user(content):
    return {"role": "user", "content": content}


def assistant(content, *calls):
    turn = {"role": "assistant", "content": content}
    if calls:
        turn["tool_calls"] = [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                              for id, name, arguments in calls]  # fmt: skip
    return turn


def result(id, content):
    return {"role": "tool", "tool_call_id": id, "content": content}


PARIS = ("c1", "get_weather", '{"city": "Paris"}')
ROME = ("c2", "get_weather", '{"city": "Rome"}')
REQUESTS = {
    "one turn": {"messages": [user("hi")]},
    "a system turn": {"messages": [{"role": "system", "content": "Be brief."}, user("hi")]},
    "a developer turn": {"messages": [{"role": "developer", "content": "Be brief."}, user("hi")]},
    "several turns": {"messages": [user("hi"), assistant("Hello!"), user("think")]},
    "two user turns": {"messages": [user("hi"), user("think")]},
    "two assistant turns": {"messages": [user("hi"), assistant("Hel"), assistant("lo!"), user("think")]},
    "text in parts": {"messages": [user([{"type": "text", "text": "h"}, {"type": "text", "text": "i"}])]},
    "an answer begun": {"messages": [user("hi"), assistant("Hel")]},
    "tools": {"messages": [user("tool")], "tools": TOOLS},
    "text and calls": {"messages": [user("mixed")], "tools": TOOLS},
    "a call cut short": {"messages": [user("two")], "tools": TOOLS, "params": {**GREEDY, "max_tokens": 30}},
    "a required call": {"messages": [user("hi")], "tools": TOOLS, "tool_choice": "required"},
    "a tool result": {"messages": [user("tool"), assistant("", PARIS), result("c1", "sunny")], "tools": TOOLS},
    "text before a call": {
        "messages": [user("tool"), assistant("Let me see.", PARIS), result("c1", "sunny")],
        "tools": TOOLS,
    },
    "text after a tool result": {
        "messages": [user("tool"), assistant("", PARIS), result("c1", "sunny"), user("thanks")],
        "tools": TOOLS,
    },
    "parallel results": {
        "messages": [user("two"), assistant("", PARIS, ROME), result("c1", "sunny"), result("c2", "rain")],
        "tools": TOOLS,
    },
    "an empty result": {"messages": [user("tool"), assistant("", PARIS), result("c1", "")], "tools": TOOLS},
    "a call without arguments": {
        "messages": [user("noargs"), assistant("", ("c1", "now", "")), result("c1", "noon")],
        "tools": TOOLS,
    },
    "a stop string": {"messages": [user("hi")], "params": {**GREEDY, "stop": ["lo"]}},
    "several stop strings": {"messages": [user("hi")], "params": {**GREEDY, "stop": ["xyz", "l"]}},
    "a bound on tokens": {"messages": [user("hi")], "params": {**GREEDY, "max_tokens": 3}},
    "no bound on tokens": {"messages": [user("think")], "params": {"temperature": 0}},
    "thinking on": {"messages": [user("think")], "thinking": {"enabled": True}},
    "thinking off": {"messages": [user("think")], "thinking": {"enabled": False}},
    "a bound on thinking": {
        "messages": [user("think")],
        "thinking": {"enabled": True, "budget_tokens": 1024},
        "params": {**GREEDY, "max_tokens": 2000},
    },
}
# What the server or the format refuses, and by which class.
REFUSED = {
    "an image": ({"messages": [user([{"type": "text", "text": "what is it?"}, IMAGE])]}, "invalid_request"),
    "too long a prompt": ({"messages": [user("x" * 2000)]}, "context_overflow"),
    "arguments that are no JSON": (
        {"messages": [user("tool"), assistant("", ("c1", "now", '{"a":')), result("c1", "noon")], "tools": TOOLS},
        None,  # Anthropic's format cannot say it: refused before it is sent. OpenAI's can, and the server refuses it.
    ),
}
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@pytest.fixture
def ask_both(ask, one_slot_port):
    def run(request, stream):
        question = {
            "url": f"http://127.0.0.1:{one_slot_port}",
            "dialect": "llama-server",
            "stream": stream,
            "params": GREEDY,
            **request,
        }
        # What the first computes the second finds in the cache; so ask once before, for both to find it.
        ask(api="chat", **question)
        return ask(api="chat", **question), ask(api="messages", **question)

    return run


def comparable(told):
    """Without what is peculiar to a format: its own word for the end, whether it names the stop string, the blanks in
    arguments, ids made for each answer, and what it lists as dropped."""
    calls = [(call["name"], parsed(call["arguments"])) for call in told["calls"]]
    return {key: told[key] for key in ("text", "reasoning", "finish", "usage", "damage")} | {"calls": calls}


def parsed(arguments):
    """None for arguments that the bound on tokens cut."""
    try:
        return json.loads(arguments)
    except ValueError:
        return None


@both_ways
@pytest.mark.parametrize("name", REQUESTS)
def test_both_formats_give_the_same_reply(ask_both, name, stream):
    by_chat, by_messages = ask_both(REQUESTS[name], stream)
    assert comparable(by_chat) == comparable(by_messages)
    assert by_chat["usage"]["prompt"] > 0
    assert not by_chat["dropped"] and not by_messages["dropped"]


@both_ways
@pytest.mark.parametrize("name", REFUSED)
def test_both_formats_are_refused_alike(ask_both, name, stream):
    request, wanted = REFUSED[name]
    by_chat, by_messages = ask_both(request, stream)
    if wanted:
        assert (by_chat["error"], by_messages["error"]) == (wanted, wanted)
        assert by_chat["words"] == by_messages["words"]
    else:
        assert (by_chat["error"], by_messages["error"]) == ("invalid_request", "invalid_argument")


@pytest.mark.parametrize("choice", ["none", "now"], ids=["no call", "this call"])
def test_a_choice_that_one_route_ignores_is_not_sent_there(ask_both, choice):
    by_chat, by_messages = ask_both({"messages": [user("tool")], "tools": TOOLS, "tool_choice": choice}, True)
    assert "error" not in by_chat
    assert by_messages["error"] == "unsupported"


def test_what_one_route_cannot_honour_is_listed(ask_both):
    one_call = {"messages": [user("two")], "tools": TOOLS, "parallel_tool_calls": False}
    by_chat, by_messages = ask_both(one_call, True)
    assert by_chat["dropped"] == [] and len(by_chat["calls"]) == 1
    assert by_messages["dropped"] == ["parallel_tool_calls"]
    seeded = {"messages": [user("hi")], "params": {**GREEDY, "seed": 7}}
    by_chat, by_messages = ask_both(seeded, True)
    assert comparable(by_chat) == comparable(by_messages)
    assert (by_chat["dropped"], by_messages["dropped"]) == ([], ["seed"])
