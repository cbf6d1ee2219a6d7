"""Faults that the official SDKs get wrong: what each makes of them, and what evalcore does. The last tests are of
oddities that both read well.

Both are asked over real sockets, once, without a second attempt.
"""

import gzip
import json
import math

import anthropic
import httpx2
import openai
import pytest

import evalcore_reply
import sdk_reply
from made_answers import BEGIN, DONE, END, JSON, chat, chunk, cut, message, text_event, until_close, whole
from replay_server import ReplayServer

# The whole bodies that both formats have.
BODIES = {"chat": chat, "messages": message}
both = pytest.mark.parametrize("kind", ["chat", "messages"])


def ask(answer, kind, stream=False, **more):
    """What the SDK returned or raised, and what evalcore told."""
    with ReplayServer(answer) as server:
        try:
            theirs = sdk_reply.ask(server.url, kind, stream)
        except Exception as failure:  # Which one it is, is what is asked.
            theirs = failure
        return theirs, evalcore_reply.ask(server.url, kind, stream, **more)


def is_typed(failure):
    """An error that a caller who catches the SDK's own ones gets to see."""
    return isinstance(failure, (openai.APIError, anthropic.APIError))


def raw(failure, kind):
    return isinstance(failure, kind) and not is_typed(failure)


# ── Streams ──


def test_a_chat_stream_that_ends_too_soon_is_no_answer():
    theirs, ours = ask(until_close(chunk(content="Hel")), "chat", stream=True)
    assert (theirs["text"], theirs["finish_raw"]) == ("Hel", None)
    assert ours["error"] == "truncated"


def test_a_message_stream_that_ends_too_soon_is_no_answer():
    theirs, ours = ask(until_close(BEGIN + text_event("Hel")), "messages", stream=True)
    assert (theirs["text"], theirs["finish_raw"]) == ("Hel", None)
    assert ours["error"] == "truncated"


def test_a_message_stream_that_ends_before_its_text_is_no_answer():
    theirs, ours = ask(until_close(BEGIN), "messages", stream=True)
    assert (theirs["text"], theirs["finish_raw"]) == ("", None)
    assert ours["error"] == "truncated"


def test_a_message_stream_whose_connection_breaks_is_a_typed_error():
    theirs, ours = ask(cut(BEGIN + text_event("Hel")), "messages", stream=True)
    assert raw(theirs, httpx2.RemoteProtocolError)
    assert ours["error"] == "truncated"


def test_a_malformed_chunk_is_a_typed_error():
    theirs, ours = ask(
        until_close(chunk(content="Hel") + 'data: {"id": \n\n' + chunk(content="lo") + DONE), "chat", stream=True
    )
    assert raw(theirs, json.JSONDecodeError)
    assert ours["error"] == "bad_reply"


def message_stream_with(broken):
    return until_close(BEGIN + text_event("Hel") + broken + text_event("lo") + END)


def test_a_malformed_event_is_a_typed_error():
    theirs, ours = ask(message_stream_with('event: content_block_delta\ndata: {"type": \n\n'), "messages", stream=True)
    assert raw(theirs, json.JSONDecodeError)
    assert ours["error"] == "bad_reply"


def test_a_malformed_event_without_a_name_is_not_passed_over():
    theirs, ours = ask(message_stream_with('data: {"type": \n\n'), "messages", stream=True)
    assert (theirs["text"], theirs["finish_raw"]) == ("Hello", "end_turn")
    assert ours["error"] == "bad_reply"


def test_a_message_stream_that_stalls_is_a_typed_error(monkeypatch):
    monkeypatch.setitem(sdk_reply.ONCE, "timeout", 0.3)
    stalling = until_close(BEGIN + text_event("Hel"))
    with ReplayServer(stalling, hold=True) as server:
        with pytest.raises(httpx2.ReadTimeout):
            sdk_reply.ask(server.url, "messages", stream=True)
        ours = evalcore_reply.ask(server.url, "messages", stream=True, idle_ms=300)
    assert ours["error"] == "timeout"


def test_the_first_event_after_a_byte_order_mark_is_read():
    theirs, ours = ask(until_close("\ufeff" + chunk(content="Hel") + chunk(content="lo") + DONE), "chat", stream=True)
    assert theirs["text"] == "lo"
    assert ours["text"] == "Hello"


def test_a_last_event_without_its_blank_line_is_read():
    theirs, ours = ask(
        until_close(chunk(content="Hel") + chunk("stop", content="lo").rstrip("\n")), "chat", stream=True
    )
    assert (theirs["text"], theirs["finish_raw"]) == ("Hel", None)
    assert (ours["text"], ours["finish_raw"]) == ("Hello", "stop")


# ── Whole answers ──


@both
def test_an_inflating_answer_is_refused(kind):
    theirs, ours = ask(
        whole(gzip.compress(b" " * 20_000_000 + BODIES[kind]().encode()), JSON + "Content-Encoding: gzip\r\n"), kind
    )
    assert theirs["text"] == "hi", "twenty megabytes of nothing, inflated"
    assert ours["error"] == "bad_reply"


@both
def test_a_prompt_is_not_sent_on_to_another_origin(kind):
    with ReplayServer(whole(BODIES[kind]())) as other:
        head = f"Location: {other.url}/elsewhere\r\n"
        theirs, ours = ask(whole("", head, "307 Temporary Redirect"), kind)
        # evalcore asks after the SDK, and one prompt came.
        assert theirs["text"] == "hi" and len(other.posts) == 1
        assert ours["error"] == "invalid_request" and ours["status"] == 307


@both
def test_bytes_that_are_no_utf8_are_replaced_and_told(kind):
    theirs, ours = ask(whole(BODIES[kind]('"h~i"').encode().replace(b"~", b"\xff")), kind)
    assert raw(theirs, UnicodeDecodeError)
    assert (ours["text"], ours["damage"]) == ("h\ufffdi", ["invalid_utf8"])


@both
def test_half_a_surrogate_pair_is_replaced_and_told(kind):
    theirs, ours = ask(whole(BODIES[kind](r'"h\ud800i"')), kind)
    with pytest.raises(UnicodeEncodeError):
        theirs["text"].encode()
    assert (ours["text"], ours["damage"]) == ("h\ufffdi", ["lone_surrogate"])


def test_a_count_that_is_no_number_is_an_error():
    theirs, ours = ask(whole(chat(usage='{"prompt_tokens": NaN, "completion_tokens": 1, "total_tokens": 1}')), "chat")
    assert math.isnan(theirs["usage"]["prompt"])
    assert ours["error"] == "bad_reply"


@both
def test_a_key_that_stands_twice_is_told(kind):
    theirs, ours = ask(whole(BODIES[kind]().replace('{"id": "c", ', '{"id": "c", "id": "d", ')), kind)
    assert theirs["text"] == "hi"
    assert (ours["text"], ours["damage"]) == ("hi", ["duplicate_key"])


@both
def test_deep_nesting_is_a_typed_error(kind):
    theirs, ours = ask(whole(BODIES[kind](usage="[" * 200_000 + "]" * 200_000)), kind)
    assert raw(theirs, RecursionError)
    assert ours["error"] == "bad_reply"


RETURNED = {
    "chat": lambda url: openai.OpenAI(base_url=url, **sdk_reply.ONCE).chat.completions.create(
        model="m", messages=sdk_reply.TURNS
    ),
    "messages": lambda url: anthropic.Anthropic(base_url=url, **sdk_reply.ONCE).messages.create(
        model="m", max_tokens=9, messages=sdk_reply.TURNS
    ),
}


@both
def test_a_page_in_place_of_an_answer_is_an_error(kind):
    page = "<html><body>Sign in</body></html>"
    with ReplayServer(whole(page, "Content-Type: text/html\r\n")) as server:
        assert RETURNED[kind](server.url) == page, "the SDK returns it as if it were a reply"
        assert evalcore_reply.ask(server.url, kind, stream=False)["error"] == "bad_reply"


@both
def test_an_empty_answer_is_a_typed_error(kind):
    theirs, ours = ask(whole(""), kind)
    assert raw(theirs, json.JSONDecodeError)
    assert ours["error"] == "bad_reply"


# ── What both get right ──

HELLO = chunk(content="Hel") + chunk(content="lo") + DONE
FRAMINGS = {
    "line ends of Windows": HELLO.replace("\n", "\r\n"),
    "line ends of old": HELLO.replace("\n", "\r"),
    "no blank after the colon": HELLO.replace("data: ", "data:"),
    "comments, ids and times": HELLO.replace("data: ", ": still here\nid: 7\nretry: 100\nother: x\ndata: "),
    "data in two lines": HELLO.replace('"choices": ', '"choices":\ndata: '),
    "an event of nothing": ": still here\n\n" + HELLO,
}


@pytest.mark.parametrize("name", FRAMINGS)
def test_other_framings_of_a_stream_read_the_same(name):
    theirs, ours = ask(until_close(FRAMINGS[name]), "chat", stream=True)
    assert theirs["text"] == ours["text"] == "Hello"
    assert theirs["finish_raw"] == ours["finish_raw"] == "stop"


@both
def test_a_byte_order_mark_before_json_is_passed_over(kind):
    theirs, ours = ask(whole("\ufeff" + BODIES[kind]()), kind)
    assert theirs["text"] == ours["text"] == "hi"
