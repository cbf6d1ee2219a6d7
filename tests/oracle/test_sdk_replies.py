"""Every recorded answer, replayed byte for byte to the official SDKs and to evalcore: both read the same, or the table
below says what the SDK gets wrong."""

import json
import pathlib
import sys

import anthropic
import openai
import pytest

import evalcore_reply
import sdk_reply
from replay_server import ReplayServer

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import expect_captures as captures

# Answers that are no model's reply; tests/unit/test_every_capture.cpp reads them.
NO_REPLY = {
    "json": "health, models, slots, tokens: no method of an SDK and no reply of evalcore",
    "events": "llama.cpp's own completion route, of which the SDKs know nothing",
    "text": "the page of metrics",
    "head": "an answer to HEAD, which neither sends",
    "empty": "an answer to OPTIONS, which neither sends",
}


def takes_a_cut_stream_for_whole(theirs, ours):
    """The connection ended in the middle of the answer."""
    assert theirs["finish_raw"] is None and theirs["text"]
    assert ours["error"] == "truncated"


def takes_a_dead_server_for_no_choice(theirs, ours):
    """The server died after the headers."""
    assert theirs["completions"] == []
    assert ours["error"] == "truncated"


def fails_where_the_second_choice_comes_first(theirs, ours):
    """The accumulator of streams fails; the first choice is all there."""
    assert isinstance(theirs, IndexError)
    assert (ours["text"], ours["finish_raw"]) == ("In one word", "length")


def hands_on_the_usage_of_one_prompt_as_that_of_two(theirs, ours):
    """Two prompts of one token and more: the server counts the first only."""
    right = comparable(ours, "completion")
    assert right["completions"] == theirs["completions"]
    assert theirs["usage"] == {"prompt": 1, "cached": 0, "completion": 2}
    assert right["usage"] == {"prompt": None, "cached": None, "completion": None}


SDK_IS_WRONG = {
    "mlxlm_disconnect_stream.txt": takes_a_cut_stream_for_whole,
    "mlxlm_canned_poison_prompt_list_stream.txt": takes_a_dead_server_for_no_choice,
    "llama_chat_n2_stream.txt": fails_where_the_second_choice_comes_first,
    "llama_comp_array.txt": hands_on_the_usage_of_one_prompt_as_that_of_two,
}

# What evalcore may call that which the SDK raises.
CLASSES = {
    "BadRequestError": {"invalid_request", "context_overflow"},
    "AuthenticationError": {"auth"},
    "NotFoundError": {"invalid_request", "backend_fault"},  # mlx_lm says 404 when it is broken.
    "InternalServerError": {
        "backend_fault",
        "overloaded",
        "invalid_request",
        "unsupported",
    },  # llama.cpp: 500 for a bad image.
    "APIStatusError": {"invalid_request", "overloaded"},
    "APIConnectionError": {"transport", "truncated"},
    "APIError": {"overloaded"},
}


def answers():
    """(file, kind, which of its answers, the request, the answer)."""
    last = None
    for line in (captures.FOLDER / "EXPECTED.tsv").read_text().splitlines()[1:]:
        name, kind = line.split("\t")[:2]
        request, answer = captures.split(captures.FOLDER / name)
        if name == last:
            answer = answer[answer.index(b"HTTP/1.1 ", 1) :]
        last = name
        yield name, kind, request, answer


ANSWERS = list(answers())
REPLIES = [one for one in ANSWERS if one[1] not in NO_REPLY]


def route(kind, request):
    """(chat, completion or messages; streamed). Errors are of the route that was asked; what is no model's route
    answers as well to a question to one."""
    name = kind.removesuffix("_stream")
    if name in captures.ROUTES.values():
        return name, kind != name
    return captures.ROUTES.get(request.split(b" ")[1].decode(), "chat"), False


def comparable(ours, kind):
    """evalcore's reply without what an SDK has no word for."""
    if "completions" in ours:
        shown = [{key: one[key] for key in ("text", "finish_raw", "logprobs")} for one in ours["completions"]]
        return {"completions": shown, "usage": without_reasoning(ours["usage"])}
    keys = ["text", "reasoning", "calls", "finish_raw"] + (["stop_string"] if kind == "messages" else ["logprobs"])
    shown = {key: ours[key] for key in keys} | {"usage": without_reasoning(ours["usage"])}
    if kind == "messages":  # There the SDK gives an object.
        shown["calls"] = [{**call, "arguments": json.loads(call["arguments"])} for call in ours["calls"]]
    return shown


def without_reasoning(usage):
    return {key: usage[key] for key in ("prompt", "cached", "completion")}


def ask_both(name, kind, request, answer):
    api, stream = route(kind, request)
    llama = name.startswith("llama")
    # Several prompts end mlx_lm, and so evalcore sends it none.
    prompts = captures.prompts_of(request) if llama and kind.startswith("completion") else 1
    dialect = "llama-server" if llama else "mlx-server"
    with ReplayServer(answer) as server:
        try:
            theirs = sdk_reply.ask(server.url, api, stream, prompts)
        except (openai.APIError, anthropic.APIError, IndexError) as failure:
            theirs = failure
        ours = evalcore_reply.ask(server.url, api, stream, dialect, prompts)
    return theirs, ours, api


@pytest.mark.parametrize("name, kind, request_bytes, answer", REPLIES, ids=[one[0] for one in REPLIES])
def test_both_read_the_same(name, kind, request_bytes, answer):
    theirs, ours, api = ask_both(name, kind, request_bytes, answer)
    if name in SDK_IS_WRONG:
        SDK_IS_WRONG[name](theirs, ours)
    elif isinstance(theirs, Exception):
        assert "error" in ours, ours
        assert ours["error"] in CLASSES[type(theirs).__name__]
        assert ours["words"] == sdk_reply.words_of(theirs)
        # An SDK puts the status of the answer on an error that came inside of it.
        assert ours["status"] == getattr(theirs, "status_code", None) or kind.endswith("_stream")
    else:
        assert comparable(ours, api) == theirs


def test_no_answer_is_left_out():
    assert len(ANSWERS) == 253
    assert len({one[0] for one in ANSWERS}) == len(list(captures.FOLDER.glob("*.txt")))
    assert SDK_IS_WRONG.keys() <= {one[0] for one in REPLIES}
