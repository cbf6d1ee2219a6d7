"""A loopback proxy that remembers the chat requests that passed through it, whole replies only."""

import http.client
import http.server
import json
import threading
import time


class RecordingProxy:
    """Forwards every request to 127.0.0.1:`port`; `chats` holds the bodies of chat requests in order, `posts` path
    and body of every POST. With a `memory` (a dict, which proxies may share) the same conversation has the same
    answer every time: the first one that the server gave."""

    def __init__(self, port, delay_s=0.0, memory=None):
        self.chats = []
        self.posts = []
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self):
                try:
                    super().handle()
                except (BrokenPipeError, ConnectionResetError):
                    pass  # The client was killed, which is what some tests are about.

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.command == "POST":
                    proxy.posts.append((self.path, json.loads(body)))
                asked = None
                if self.path.endswith("/chat/completions"):
                    chat = json.loads(body)
                    proxy.chats.append(chat)
                    time.sleep(delay_s)
                    asked = json.dumps(chat["messages"])
                if memory is not None and asked in memory:
                    return self.answer(*memory[asked])
                upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                upstream.request(self.command, self.path, body or None, {"Content-Type": "application/json"})
                reply = upstream.getresponse()
                data = reply.read()
                upstream.close()
                answer = reply.status, reply.headers.get("Content-Type", "application/json"), data
                if memory is not None and asked is not None:
                    answer = memory.setdefault(asked, answer)
                self.answer(*answer)

            def answer(self, status, kind, data):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = forward

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def questions(self):
        """The last user turn of each chat request, in order of arrival."""
        return [chat["messages"][-1]["content"] for chat in self.chats]

    def close(self):
        self._server.shutdown()
        self._server.server_close()
