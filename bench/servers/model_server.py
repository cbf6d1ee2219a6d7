"""A stand-in for a server of one model, on a free port of the loopback: what evalcore is measured against."""

import contextlib
import http.server
import json
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Lists the model; do_POST() is the caller's."""

    protocol_version = "HTTP/1.1"
    model = "m"

    def log_message(self, *_):
        pass

    def reply(self, value):
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with contextlib.suppress(OSError):
            # In one: of two the kernel keeps the second until the first is acknowledged, up to 40 ms.
            self.wfile.write(head + body)

    def do_GET(self):
        self.reply({"object": "list", "data": [{"id": self.model, "object": "model"}]})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # Past the usual 5, a connection that comes with others waits a second for its next try.

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
