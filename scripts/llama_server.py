#!/usr/bin/env python3
"""Runs the llama.cpp server that the xllamacpp wheel contains, under the flags of llama-server.

Only the flags that evalcore passes are understood. The process ends on SIGTERM, and by itself when the
process that started it is gone, so that a killed run leaves no server behind.
"""

import argparse
import os
import signal
import sys
import threading
import time


def read_flags():
    flags = argparse.ArgumentParser(prog="llama_server.py", description=__doc__.splitlines()[0])
    flags.add_argument("--model", required=True, help="GGUF file")
    flags.add_argument("--host", default="127.0.0.1")
    flags.add_argument("--port", type=int, default=8080)
    flags.add_argument("--parallel", type=int, default=1, help="slots")
    flags.add_argument("--ctx-size", type=int, default=4096, help="tokens, shared out among the slots")
    flags.add_argument("--threads", type=int, default=1, help="compute threads")
    flags.add_argument("--slot-save-path", default="", help="folder for saved slots")
    return flags.parse_args()


def end_with(parent):
    """Ends this process as soon as `parent` is no longer its parent."""

    def watch():
        while os.getppid() == parent:
            time.sleep(0.25)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main():
    parent = os.getppid()
    # The default actions end the process at once, also while the model loads.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    flags = read_flags()
    if not os.path.isfile(flags.model):
        sys.exit(f"llama_server.py: there is no model file {flags.model}")
    try:
        import xllamacpp
    except ImportError:
        sys.exit(f"llama_server.py: {sys.executable} has no xllamacpp; pip install xllamacpp")

    wanted = xllamacpp.CommonParams()
    wanted.model.path = flags.model
    wanted.hostnames = [flags.host]
    wanted.port = flags.port
    wanted.n_parallel = flags.parallel
    wanted.n_ctx = flags.ctx_size
    wanted.cpuparams.n_threads = flags.threads
    wanted.cpuparams_batch.n_threads = flags.threads
    if flags.slot_save_path:
        wanted.slot_save_path = os.path.join(flags.slot_save_path, "")  # llama.cpp appends the name as it is

    end_with(parent)
    try:
        server = xllamacpp.Server(wanted)
    except Exception as failure:
        sys.exit(f"llama_server.py: the server did not start: {failure}")
    print(f"listening on {server.listening_address}", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
