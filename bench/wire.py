#!/usr/bin/env python3
"""Compares what decoding a chat answer costs here and in OpenAI's client: the same bytes, one run, processor time.

The answers are recorded ones; the stream is enlarged to 2,000 deltas. Both sides get the bytes from memory, in pieces
of 16 KiB, and put the text together. Rounds of the two sides alternate, the median counts. The client's figures leave
out what it does around decoding: of a stream the request is spread over all deltas, of a whole answer only parse() is
timed.

  ns_per_delta, ns_per_reply          here
  sdk_ns_per_delta, sdk_ns_per_reply  the client
  ratio_vs_openai_sdk                 the smaller of the two ratios
  line_1mib_ns_per_byte, line_64mib_ns_per_byte   here, for one event of that size: equal if time is linear
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import httpx2 as httpx
import openai

CAPTURES = pathlib.Path(__file__).parent.parent / "tests/data/captures"
DELTAS = 2000
PIECE = 16 * 1024
ROUNDS = 7
REPLIES = 100


def body_of(capture):
    """The recorded body, without chunked coding."""
    text = (CAPTURES / f"{capture}.txt").read_bytes()
    answer = text.split(b"===== RESPONSE =====\n", 1)[1].split(b"\n===== END =====", 1)[0]
    head, rest = answer.split(b"\r\n\r\n", 1)
    if b"chunked" not in head:
        return rest
    body = b""
    while rest:
        size, rest = rest.split(b"\r\n", 1)
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return body


def enlarged(stream, deltas):
    """The stream with its deltas of text, in turn, until there are so many."""
    events = [event + b"\n\n" for event in stream.split(b"\n\n") if event]
    texts = [i for i, event in enumerate(events) if b'"delta":{"content":"' in event]
    first, last = texts[0], texts[-1]
    made = [events[texts[i % len(texts)]] for i in range(deltas)]
    return b"".join(events[:first] + made + events[last + 1 :])


class InPieces(httpx.SyncByteStream):
    def __init__(self, body):
        self.body = body

    def __iter__(self):
        for at in range(0, len(self.body), PIECE):
            yield self.body[at : at + PIECE]


class Client:
    """OpenAI's client on a transport that answers from memory."""

    def __init__(self, stream, reply):
        self.stream, self.reply = stream, reply
        self.api = openai.OpenAI(
            api_key="none",
            base_url="http://127.0.0.1/v1",
            http_client=httpx.Client(transport=httpx.MockTransport(self.answer)),
        )
        self.asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}

    def answer(self, request):
        if json.loads(request.content).get("stream"):
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=InPieces(self.stream))
        return httpx.Response(200, headers={"content-type": "application/json"}, content=self.reply)

    def read_stream(self):
        """Nanoseconds, and the text."""
        began = time.process_time_ns()
        text = []
        with self.api.chat.completions.create(**self.asked, stream=True) as chunks:
            for chunk in chunks:
                if chunk.choices:
                    text.append(chunk.choices[0].delta.content or "")
        text = "".join(text)
        return time.process_time_ns() - began, text

    def read_replies(self):
        """Nanoseconds a reply, and the text."""
        spent = 0
        for _ in range(REPLIES):
            raw = self.api.chat.completions.with_raw_response.create(**self.asked)
            began = time.process_time_ns()
            text = raw.parse().choices[0].message.content
            spent += time.process_time_ns() - began
        return spent / REPLIES, text


def run(program, *arguments):
    return json.loads(subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout)


def main():
    program = sys.argv[1]
    stream = enlarged(body_of("llama_chat_stream_usage"), DELTAS)
    reply = body_of("llama_chat")
    client = Client(stream, reply)
    taken = {name: [] for name in ("ns_per_delta", "ns_per_reply", "sdk_ns_per_delta", "sdk_ns_per_reply")}
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("stream", "reply")]
        for file, bytes_ in zip(files, (stream, reply)):
            file.write_bytes(bytes_)
        client.read_stream()
        client.read_replies()
        for _ in range(ROUNDS):
            ours = run(program, *map(str, files))
            stream_ns, stream_text = client.read_stream()
            reply_ns, reply_text = client.read_replies()
            if (stream_text, reply_text) != (ours["stream"], ours["reply"]):
                sys.exit("the two sides read different texts")
            taken["ns_per_delta"].append(ours["ns_per_stream"] / DELTAS)
            taken["ns_per_reply"].append(ours["ns_per_reply"])
            taken["sdk_ns_per_delta"].append(stream_ns / DELTAS)
            taken["sdk_ns_per_reply"].append(reply_ns)
    figures = {name: statistics.median(values) for name, values in taken.items()}
    ratios = [figures["sdk_" + name] / figures[name] for name in ("ns_per_delta", "ns_per_reply")]
    figures["ratio_vs_openai_sdk"] = min(ratios)
    figures.update(run(program, "--lines"))
    print(f"a delta {ratios[0]:.0f}, a reply {ratios[1]:.0f} times as fast as the client", file=sys.stderr)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
