"""A server on loopback that answers every POST with the same bytes and then hangs up, or holds on."""

import socket
import threading

MODELS = b'{"data": [{"id": "m"}]}'


def read_request(file):
    """(head, body) of the next request; None where the client hung up."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = file.readline()
        if not line:
            return None
        head += line
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return head, file.read(int(lengths[0])) if lengths else b""


class ReplayServer:
    """`posts` holds the bodies that came in. A GET is answered with a list of one model, whatever its path, since
    clients ask for it before they send. With `hold` it hangs up only after the client."""

    def __init__(self, answer, hold=False):
        self._answer = answer
        self._hold = hold
        self.posts = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Closing alone does not end an accept() that is under way.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as file:
            while request := read_request(file):
                head, body = request
                if head.startswith(b"GET "):
                    connection.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        b"Content-Length: %d\r\n\r\n%s" % (len(MODELS), MODELS)
                    )
                    continue
                self.posts.append(body)
                try:
                    connection.sendall(self._answer)
                except OSError:
                    return  # The client has seen enough.
                if not self._hold:
                    return
