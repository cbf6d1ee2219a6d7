"""A server without a model: it answers a chat with its last turn, after a sleep, as many at once as are asked."""

import contextlib
import json
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from servers import model_server  # noqa: E402


@contextlib.contextmanager
def sleeping_mock(delay_s):
    """Gives the URL of one that is there as long as the block lasts."""

    class Handler(model_server.Handler):
        model = "sleeping-mock"

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            time.sleep(delay_s)
            message = {"role": "assistant", "content": asked["messages"][-1]["content"]}
            self.reply({"model": self.model, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    server = model_server.Server(Handler)
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
