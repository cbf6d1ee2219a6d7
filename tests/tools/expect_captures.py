#!/usr/bin/env python3
"""Derives what each recorded exchange means, with Python's own HTTP and JSON code.

    expect_captures.py            writes tests/data/captures/EXPECTED.tsv
    expect_captures.py --check    fails where that file says something else

A row is an answer: file, kind, status, outcome. Kinds: `silent` (no byte came), `head` (an answer to HEAD),
`empty`, `text` (neither JSON nor events; the outcome is its length), `json`, `events`, `error` (any status but
2xx), and the answers of the routes: `chat`, `completion` and `messages`, each also as `…_stream`. The outcome
is JSON as json.dumps writes it. The rules are those of the servers' documentation and of RFC 9112; nothing is
taken from evalcore's output.
"""

import http.client
import io
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "captures"
ROUTES = {
    "/v1/chat/completions": "chat",
    "/v1/completions": "completion",
    "/v1/messages": "messages",
}
BACKEND_WORDS_BYTES = 1024

# What an error's own words say beyond its status.
WORDS = [
    ("exceed_context_size_error", "context_overflow"),
    ("Context size has been exceeded", "overloaded"),  # all slots share the cells; alone it may fit
    ("image input is not supported", "invalid_request"),
    ("Failed to parse tool call arguments", "invalid_request"),
    ("generation thread died", "backend_fault"),
]
STATUS = {401: "auth", 403: "auth", 429: "rate_limited", 501: "unsupported", 503: "overloaded"}


class Connection(io.BytesIO):
    """What http.client needs of a socket, and of its file: an answer that ends does not close it."""

    def makefile(self, *_):
        return self

    def close(self):
        pass


def split(path):
    data = path.read_bytes()
    _, rest = data.split(b"===== REQUEST =====\n", 1)
    request, rest = rest.split(b"\n===== RESPONSE =====\n", 1)
    answer, _ = rest.rsplit(b"\n===== END =====", 1)
    return request, answer


def error_class(status, text):
    for words, meaning in WORDS:
        if words in text:
            return meaning
    if status in STATUS:
        return STATUS[status]
    return "backend_fault" if status >= 500 else "invalid_request"


def error_words(text):
    try:
        body = json.loads(text)
    except ValueError:
        words = text.strip()
    else:
        inside = body.get("error", body)
        words = inside if isinstance(inside, str) else inside.get("message", "")
    return words.encode()[:BACKEND_WORDS_BYTES].decode(errors="ignore")


def failure(status, text):
    return {"error": error_class(status, text), "words": error_words(text)}


def events(body):
    """The payloads of an event stream; these servers end lines with LF only."""
    found = []
    for block in body.decode().split("\n\n"):
        data = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        if data:
            found.append("\n".join(data))
    return found


def usage_of(held):
    usage = held or {}
    details = usage.get("prompt_tokens_details") or {}
    return [usage.get("prompt_tokens"), details.get("cached_tokens"), usage.get("completion_tokens")]


def chat_answer(texts, reasonings, calls, finish, usage):
    return {
        "text": "".join(texts),
        "reasoning": "".join(reasonings),
        "calls": calls,
        "finish": finish,
        "usage": usage_of(usage),
    }


def chat(body):
    choice = body["choices"][0]
    message = choice["message"]
    calls = [[one["function"]["name"], one["function"]["arguments"]] for one in message.get("tool_calls") or []]
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    return chat_answer(
        [message.get("content") or ""], [reasoning], calls, choice["finish_reason"], body.get("usage")
    )


def stream_failure(payload):
    if "error" not in payload:
        return None
    return {
        "error": error_class(payload["error"].get("code", 500), json.dumps(payload)),
        "words": payload["error"]["message"],
    }


def chat_stream(payloads):
    texts, reasonings, calls, finish, usage = [], [], {}, None, None
    for payload in payloads:
        if payload == "[DONE]":
            break
        payload = json.loads(payload)
        if failed := stream_failure(payload):
            return failed
        usage = payload.get("usage") or usage
        for choice in payload["choices"]:
            if choice["index"] != 0:
                continue
            delta = choice["delta"]
            texts.append(delta.get("content") or "")
            reasonings.append(delta.get("reasoning_content") or delta.get("reasoning") or "")
            for part in delta.get("tool_calls") or []:
                call = calls.setdefault(part["index"], ["", ""])
                call[0] += part["function"].get("name") or ""
                call[1] += part["function"].get("arguments") or ""
            finish = choice["finish_reason"] or finish
    if finish is None:
        return {"error": "truncated", "words": ""}
    return chat_answer(texts, reasonings, list(calls.values()), finish, usage)


def tokens_of(choice):
    logprobs = choice.get("logprobs") or {}
    return [[one.get("token", ""), one["logprob"]] for one in logprobs.get("content") or []]


def completion_answer(choices, usage, prompts):
    # llama.cpp's usage counts one of several prompts; what all of them took is unknown.
    return {"completions": choices, "usage": usage_of(usage if prompts == 1 else None)}


def completion(body, prompts):
    choices = [[one["text"], one["finish_reason"], tokens_of(one)] for one in body["choices"]]
    return completion_answer(choices, body.get("usage"), prompts)


def completion_stream(payloads, prompts):
    choices = [["", None, []] for _ in range(prompts)]
    usage = None
    for payload in payloads:
        if payload == "[DONE]":
            break
        payload = json.loads(payload)
        usage = payload.get("usage") or usage
        for choice in payload["choices"]:
            into = choices[choice["index"]]
            into[0] += choice["text"]
            into[1] = choice["finish_reason"] or into[1]
            into[2] += tokens_of(choice)
    if any(one[1] is None for one in choices):
        return {"error": "truncated", "words": ""}
    return completion_answer(choices, usage, prompts)


def messages_answer(texts, thoughts, calls, finish, usage):
    # Anthropic counts the cached tokens apart.
    cached = usage.get("cache_read_input_tokens")
    prompt = sum(usage.get(key) or 0 for key in ("input_tokens", "cache_read_input_tokens"))
    return {
        "text": "".join(texts),
        "reasoning": "".join(thoughts),
        "calls": calls,
        "finish": finish,
        "usage": [prompt, cached, usage.get("output_tokens")],
    }


def messages(body):
    blocks = body["content"]
    return messages_answer(
        [one["text"] for one in blocks if one["type"] == "text"],
        [one["thinking"] for one in blocks if one["type"] == "thinking"],
        [[one["name"], one["input"]] for one in blocks if one["type"] == "tool_use"],
        body["stop_reason"],
        body["usage"],
    )


def messages_stream(payloads):
    texts, thoughts, calls, finish, usage, ended = [], [], {}, None, {}, False
    for payload in map(json.loads, payloads):
        if "type" not in payload or payload["type"] not in MESSAGES_EVENTS:
            return {"error": error_class(payload["code"], json.dumps(payload)), "words": payload["message"]}
        kind = payload["type"]
        if kind == "message_start":
            usage.update(payload["message"]["usage"])
        elif kind == "content_block_start" and payload["content_block"]["type"] == "tool_use":
            calls[payload["index"]] = [payload["content_block"]["name"], ""]
        elif kind == "content_block_delta":
            delta = payload["delta"]
            if delta["type"] == "text_delta":
                texts.append(delta["text"])
            elif delta["type"] == "thinking_delta":
                thoughts.append(delta["thinking"])
            elif delta["type"] == "input_json_delta":
                calls[payload["index"]][1] += delta["partial_json"]
        elif kind == "message_delta":
            finish = payload["delta"]["stop_reason"]
            usage.update(payload["usage"])
        elif kind == "message_stop":
            ended = True
    if not ended:
        return {"error": "truncated", "words": ""}
    return messages_answer(texts, thoughts, list(calls.values()), finish, usage)


MESSAGES_EVENTS = {
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
}


def prompts_of(request):
    body = request.split(b"\r\n\r\n", 1)[1]
    if b"chunked" in request.split(b"\r\n\r\n", 1)[0]:
        return 1
    prompt = json.loads(body.split(b"POST ", 1)[0])["prompt"]
    return len(prompt) if isinstance(prompt, list) and isinstance(prompt[0], str) else 1


def outcome(kind, streamed, body, request):
    if kind == "chat":
        return chat_stream(events(body)) if streamed else chat(json.loads(body))
    if kind == "completion":
        prompts = prompts_of(request)
        return completion_stream(events(body), prompts) if streamed else completion(json.loads(body), prompts)
    if kind == "messages":
        return messages_stream(events(body)) if streamed else messages(json.loads(body))
    return [json.loads(one) for one in events(body)] if streamed else json.loads(body)


def rows_of(path):
    request, answer = split(path)
    if not answer:
        yield "silent", 0, {"error": "transport", "words": ""}
        return
    method, target = request.split(b" ")[:2]
    connection = Connection(answer)
    while connection.tell() < len(answer):
        reply = http.client.HTTPResponse(connection, method=method.decode())
        reply.begin()
        if method == b"HEAD":
            yield "head", reply.status, {"error": "truncated", "words": ""}
            return
        try:
            body = reply.read()
        except http.client.IncompleteRead:
            yield ROUTES[target.decode()] + "_stream", reply.status, {"error": "truncated", "words": ""}
            return
        streamed = reply.getheader("Content-Type", "").startswith("text/event-stream")
        kind = ROUTES.get(target.decode(), "json") if method == b"POST" else "json"
        if reply.status >= 300:
            yield "error", reply.status, failure(reply.status, body.decode())
        elif not body and not streamed:
            yield "empty", reply.status, ""
        elif not streamed and "json" not in reply.getheader("Content-Type", ""):
            yield "text", reply.status, len(body)
        else:
            name = ("events" if kind == "json" else kind + "_stream") if streamed else kind
            yield name, reply.status, outcome(kind, streamed, body, request)


def table():
    lines = ["file\tkind\tstatus\toutcome\n"]
    for path in sorted(FOLDER.glob("*.txt")):
        for kind, status, what in rows_of(path):
            lines.append(f"{path.name}\t{kind}\t{status}\t{json.dumps(what)}\n")
    return "".join(lines)


def main():
    expected = FOLDER / "EXPECTED.tsv"
    if sys.argv[1:] == ["--check"]:
        if expected.read_text() != table():
            sys.exit(f"{expected} is not what the recordings say: run {sys.argv[0]}")
        return
    expected.write_text(table())


if __name__ == "__main__":
    main()
