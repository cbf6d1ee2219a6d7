"""A server of OpenAI's text completions in their legacy shape, with `echo`, `logprobs` and a tokenizer as vLLM offers
it. What it answers follows from a fixed table, and what it was asked is kept."""

import contextlib
import http.server
import json
import re
import threading
import time
import zlib

BEGINNING, END = "<s>", "</s>"
PIECES = re.compile(rf"{BEGINNING}|{END}| ?\w+|\s|[^\w\s]")


class Vocabulary:
    """Words and signs, numbered as they come up."""

    def __init__(self):
        self.ids = {}
        self.texts = {}
        self.lock = threading.Lock()
        for text in (BEGINNING, END):
            self.id_of(text)

    def id_of(self, text):
        with self.lock:
            number = self.ids.setdefault(text, len(self.ids) + 1)
            self.texts[number] = text
        return number

    def encode(self, text):
        return [self.id_of(piece) for piece in PIECES.findall(text)]


def logprob(before, token):
    """Of a token after another, from the table."""
    return -(zlib.crc32(f"{before}|{token}".encode()) % 9000 + 1) / 1000


def answer_to(prompt):
    """What is generated after a prompt."""
    return f" {zlib.crc32(prompt.encode()) % 100}."


class Server:
    """Runs in threads of its own as long as the block lasts. asked: the bodies at /v1/completions. refuses: a text of
    prompts that are refused. delay_s: before each answer."""

    def __init__(self):
        self.vocabulary = Vocabulary()
        self.asked = []
        self.refuses = None
        self.delay_s = 0.0
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def log_message(self, *_):
                pass

            def do_GET(self):
                if self.path == "/v1/models":
                    self.answer(200, {"object": "list", "data": [{"id": "m", "object": "model"}]})
                elif self.path == "/tokenizer_info":
                    self.answer(200, {"bos_token": BEGINNING, "eos_token": END})
                else:
                    self.answer(404, {"error": {"message": "no such route"}})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/tokenize":
                    self.answer(200, {"tokens": server.vocabulary.encode(body["prompt"])})
                elif self.path == "/v1/completions":
                    self.answer(*server.complete(body))
                else:
                    self.answer(404, {"error": {"message": "no such route"}})

            def answer(self, status, value):
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(data)

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.listener.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.listener.serve_forever, args=[0.05])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown()
        self.thread.join()
        self.listener.server_close()

    def prompts(self):
        """The texts that were asked, those apart that a client asks of itself to find out what the server can."""
        texts = [body["prompt"] for body in self.asked]
        return [text for text in texts if not str(text).startswith("one two three four five six ")]

    def complete(self, body):
        self.asked.append(body)
        time.sleep(self.delay_s)
        prompt = body["prompt"]
        if isinstance(prompt, str):
            ids = self.vocabulary.encode(prompt)
        else:
            ids = prompt[0] if isinstance(prompt[0], list) else prompt
            prompt = "".join(self.vocabulary.texts[number] for number in ids)
        if self.refuses and self.refuses in prompt:
            return 400, {"error": {"message": "this prompt is not served", "type": "invalid_request_error"}}
        choice = {"index": 0, "text": answer_to(prompt), "logprobs": None, "finish_reason": "stop"}
        if body.get("echo"):
            choice = {"index": 0, "text": prompt + " x", "logprobs": self.echo(ids), "finish_reason": "length"}
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1, "total_tokens": len(ids) + 1}
        return 200, {"object": "text_completion", "model": "m", "choices": [choice], "usage": usage}

    def echo(self, ids):
        """The prompt's tokens, and one that was generated. The likeliest has -1.5, unless the token itself is more."""
        texts = [self.vocabulary.texts[number] for number in ids] + [" x"]
        values = [None] + [logprob(before, token) for before, token in zip(texts, texts[1:])]
        offsets = [sum(map(len, texts[:at])) for at in range(len(texts))]
        tops = [None] + [{"other": -1.5, text: value} for text, value in zip(texts[1:], values[1:])]
        return {"tokens": texts, "token_logprobs": values, "text_offset": offsets, "top_logprobs": tops}
