"""The answers of tests/data/responses: what the types of the official SDK say they are, and read as its client reads
them, or a test says what the SDK gets wrong."""

import pathlib

import openai
import pytest
from openai.types.responses import Response
from openai.types.responses.response_stream_event import ResponseStreamEvent
from pydantic import TypeAdapter

from evalcore_reply import ask
from replay_server import ReplayServer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "responses"
WHOLE = sorted(path.stem for path in FOLDER.glob("*.json"))
RECORDED = sorted(path.stem for path in FOLDER.glob("llama_*.txt"))
FAILED = [name for name in WHOLE if "failed" in name]
ANSWERED = [name for name in WHOLE if "failed" not in name]


def http(body, kind):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def answer(name, stream):
    if stream:
        return http((FOLDER / f"{name}.sse").read_bytes(), "text/event-stream")
    return http((FOLDER / f"{name}.json").read_bytes(), "application/json")


def recorded(name):
    data = (FOLDER / f"{name}.txt").read_bytes()
    return data.split(b"\n===== RESPONSE =====\n")[1].rsplit(b"\n===== END =====")[0]


def ours(url, stream):
    return ask(url, "response", stream)


def theirs(url, stream):
    with openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=30) as client:
        if not stream:
            return client.responses.create(model="m", input="hi")
        last = None
        with client.responses.stream(model="m", input="hi") as events:
            for event in events:
                last = event
        return last.response


def reasoning(item):
    full = "".join(part.text for part in item.content or [])
    return full or "\n\n".join(part.text for part in item.summary)


def comparable(reply):
    """A response of the SDK in the words of tests/tools/ask.cpp."""
    messages = [item for item in reply.output if item.type == "message"]
    parts = [part for item in messages for part in item.content if part.type == "output_text"]
    usage = reply.usage
    details = usage.output_tokens_details
    return {
        "text": reply.output_text,
        "reasoning": "".join(reasoning(item) for item in reply.output if item.type == "reasoning"),
        "calls": [
            {"id": item.call_id, "name": item.name, "arguments": item.arguments}
            for item in reply.output
            if item.type == "function_call"
        ],
        "finish_raw": reply.incomplete_details.reason if reply.status == "incomplete" else reply.status,
        "usage": {
            "prompt": usage.input_tokens,
            "cached": usage.input_tokens_details.cached_tokens,
            "completion": usage.output_tokens,
            "reasoning": details.reasoning_tokens if details else None,
        },
        "logprobs": [[token.token, token.logprob] for part in parts for token in part.logprobs or []],
    }


def check_alike(reply, read):
    expected = comparable(reply)
    assert {key: read.get(key) for key in expected} == expected


@pytest.mark.parametrize("name", WHOLE)
def test_the_files_are_what_the_types_say(name):
    Response.model_validate_json((FOLDER / f"{name}.json").read_bytes())
    one_event = TypeAdapter(ResponseStreamEvent)
    data = [line[6:] for line in (FOLDER / f"{name}.sse").read_text().splitlines() if line.startswith("data: ")]
    assert data
    for text in data:
        one_event.validate_json(text)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ANSWERED)
def test_an_answer_is_read_as_the_sdk_reads_it(name, stream):
    with ReplayServer(answer(name, stream)) as server:
        check_alike(theirs(server.url, stream), ours(server.url, stream))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", FAILED)
def test_a_failure_is_an_answer_to_the_sdk_and_an_error_here(name, stream):
    with ReplayServer(answer(name, stream)) as server:
        reply = theirs(server.url, stream)
        assert (reply.status, reply.output_text) == ("failed", "")
        assert ours(server.url, stream)["words"] == reply.error.message


@pytest.mark.parametrize("name", [name for name in RECORDED if not name.endswith(("_stream", "overflow"))])
def test_a_real_servers_whole_answer_is_read_as_the_sdk_reads_it(name):
    with ReplayServer(recorded(name)) as server:
        check_alike(theirs(server.url, False), ours(server.url, False))


@pytest.mark.parametrize("name", [name for name in RECORDED if name.endswith("_stream")])
def test_texts_without_indices_stop_the_sdk_and_are_read_here(name):
    with ReplayServer(recorded(name)) as server, ReplayServer(recorded(name.removesuffix("_stream"))) as whole:
        read, once = ours(server.url, True), ours(whole.url, False)
        if read["text"]:
            with pytest.raises(TypeError, match="list indices"):
                theirs(server.url, True)
        else:
            check_alike(theirs(server.url, True), read)
    assert read["text"] == once["text"]
    assert [(one["name"], one["arguments"]) for one in read["calls"]] == [
        (one["name"], one["arguments"]) for one in once["calls"]
    ]


def test_an_end_without_output_loses_the_answer_for_the_sdk_and_not_here():
    """Some gateways send the output in pieces only."""
    stream = (FOLDER / "openai_text.sse").read_text()
    cut = stream.rindex('"output":[') + len('"output":[')
    bare = http((stream[:cut] + '],"was":[' + stream[cut:]).encode(), "text/event-stream")
    with ReplayServer(bare) as server:
        assert theirs(server.url, True).output_text == ""
        assert ours(server.url, True)["text"] == "Grüße, 世界 😀!"


def test_a_stream_that_is_cut_is_no_answer():
    stream = (FOLDER / "openai_text.sse").read_bytes()
    with ReplayServer(http(stream[: stream.rindex(b"event: ")], "text/event-stream")) as server:
        assert ours(server.url, True)["error"] == "truncated"
