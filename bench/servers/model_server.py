"""A stand-in for a server of one model, on a free port of the loopback: what benches drive evalcore against."""

import contextlib
import http.server
import json
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Lists the model; do_POST() is the bench's."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, value):
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with contextlib.suppress(OSError):
            self.wfile.write(head + body)

    def do_GET(self):
        self.reply({"object": "list", "data": [{"id": "m", "object": "model"}]})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
