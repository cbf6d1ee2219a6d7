"""A server without a model: it answers a chat with its last turn, after a sleep, as many at once as are asked."""

import contextlib
import http.server
import json
import threading
import time

MODEL = "sleeping-mock"


@contextlib.contextmanager
def sleeping_mock(delay_s):
    """Gives the URL of one that is there as long as the block lasts."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def tell(self, body):
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            self.tell({"object": "list", "data": [{"id": MODEL}]})

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            time.sleep(delay_s)
            message = {"role": "assistant", "content": asked["messages"][-1]["content"]}
            self.tell({"model": MODEL, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
