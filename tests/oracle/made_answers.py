"""Answers of a server, as bytes: heads, whole replies and events of both formats."""

import json

JSON = "Content-Type: application/json\r\n"
EVENTS = "Content-Type: text/event-stream\r\n"


def whole(body, head=JSON, status="200 OK"):
    body = body if isinstance(body, bytes) else body.encode()
    return f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def until_close(body, head=EVENTS):
    """An answer that ends where the connection does."""
    return f"HTTP/1.1 200 OK\r\n{head}Connection: close\r\n\r\n".encode() + body.encode()


def cut(body, head=EVENTS):
    """A chunked answer whose last chunk never comes."""
    body = body.encode()
    return f"HTTP/1.1 200 OK\r\n{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode() + body + b"\r\n"


USAGE = '{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}'


def chat(content='"hi"', usage=USAGE):
    return (
        '{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop", '
        f'"message": {{"role": "assistant", "content": {content}}}}}], "usage": {usage}}}'
    )


def message(content='"hi"', usage='{"input_tokens": 1, "output_tokens": 1}'):
    return (
        '{"id": "c", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": null, '
        f'"content": [{{"type": "text", "text": {content}}}], "usage": {usage}}}'
    )


def chunk(finish=None, **delta):
    return (
        "data: "
        + json.dumps(
            {
                "id": "c",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }
        )
        + "\n\n"
    )


def event(kind, **members):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n"


def text_event(text):
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


BEGIN = event("message_start", message=json.loads(message()) | {"content": [], "stop_reason": None}) + event(
    "content_block_start", index=0, content_block={"type": "text", "text": ""}
)
END = (
    event("content_block_stop", index=0)
    + event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 2})
    + event("message_stop")
)
DONE = chunk("stop") + "data: [DONE]\n\n"
