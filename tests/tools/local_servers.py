"""Servers on this machine, as long as a test has need of them."""

import contextlib
import socket
import subprocess
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(port, command, log):
    """A server that is ready as long as the block lasts."""
    with open(log, "wb") as output:
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 120
        while status_of(port, "/health") != 200:
            assert process.poll() is None, f"the server ended while loading: {log.read_text()}"
            assert time.monotonic() < deadline, "the server was not ready within 120 s"
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=10)


def status_of(port, path):
    """The status of an answer, None where nobody answers."""
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).status
    except urllib.error.HTTPError as refusal:
        return refusal.code
    except OSError:
        return None
