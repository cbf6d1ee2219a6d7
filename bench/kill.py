#!/usr/bin/env python3
"""Kills runs and starts them again, until the store is whole: what was committed must stay, and is not asked again.

Half of the kills (kill -9) come at a random moment, the others in the middle of a write to the store, half of whose
bytes are written. After each kill a copy of the store is read: what is committed there is what a run must not lose and
must not send again. When a suite is done its replies are compared with what the server answered, and a new one begins.

  cycles       starts of a run, killed or not
  kills        those that were killed, by moment
  suites       brought to their end
  lost         replies that a store once had and has no more, or that are not what the server said, and items that the
               score of a suite that is done lacks
  sent_twice   requests for items whose reply was committed before the run began
"""

# needs: evalcore

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent / "tests/e2e"))
from store_copy import committed_replies  # noqa: E402

from servers import model_server  # noqa: E402

ITEMS = 40
IN_FLIGHT = 4


def answer_to(question):
    return f"The answer to {question}"


class Handler(model_server.Handler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = asked["messages"][-1]["content"]
        self.server.asked.append(question)
        time.sleep(self.server.random.uniform(0, 0.008))
        message = {"role": "assistant", "content": answer_to(question)}
        self.reply({"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}})


class Server(model_server.Server):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.asked = []
        super().__init__(Handler)

    def handle_error(self, *_):
        pass  # A client that is killed leaves broken connections.


def committed(store, scratch):
    """Text of each committed reply by item."""
    return {item: reply["text"] for item, reply in committed_replies(store, scratch).items()} if store.exists() else {}


class Torture:
    def __init__(self, program, folder, seed):
        self.program, self.folder = program, folder
        self.random = random.Random(seed)
        self.server = Server(seed)
        self.figures = collections.Counter(cycles=0, suites=0, lost=0, sent_twice=0)
        self.kills = collections.Counter(random=0, in_a_write=0)
        self.shim = folder / "at_write.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.shim, HERE / "kill/at_write.c", "-ldl"], check=True)
        self.suite = folder / "suite.jsonl"
        self.suite.write_text("".join(
            json.dumps({"id": f"q{number}", "prompt": f"question q{number}", "target": answer_to(f"question q{number}")})
            + "\n" for number in range(ITEMS)))

    def start(self, out, kill_at_write):
        environment = dict(os.environ)
        if kill_at_write:
            environment |= {"LD_PRELOAD": str(self.shim), "KILL_AT_WRITE": str(kill_at_write)}
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        command = [self.program, "run", self.suite, "--backend", "openai-url", "--base-url", url, "--model", "m", "--out", out,
                   "-c", IN_FLIGHT, "-q"]
        return subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def cycle(self, out):
        """True when the suite is done."""
        before = committed(out / "run.db", self.folder / "copy")
        self.server.asked.clear()
        # A run writes some 15 times before its first reply, and some 3 times a reply.
        in_a_write = self.random.random() < 0.5
        process = self.start(out, self.random.randint(1, 120) if in_a_write else None)
        try:
            process.wait(timeout=60 if in_a_write else self.random.uniform(0.005, 0.15))
        except subprocess.TimeoutExpired:
            process.kill()
        said = process.stderr.read()
        status = process.wait()
        self.figures["cycles"] += 1
        if status == -signal.SIGKILL:
            self.kills["in_a_write" if in_a_write else "random"] += 1
        elif status != 0:
            sys.exit(f"a run ended with {status}: {said}")
        asked = {question.split()[1] for question in self.server.asked}
        self.figures["sent_twice"] += len(asked & before.keys())
        after = committed(out / "run.db", self.folder / "copy")
        self.figures["lost"] += sum(after.get(item) != text for item, text in before.items())
        return status == 0

    def finished(self, out):
        replies = committed(out / "run.db", self.folder / "copy")
        wanted = [f"q{number}" for number in range(ITEMS)]
        self.figures["lost"] += sum(replies.get(item) != answer_to(f"question {item}") for item in wanted)
        row = json.loads((out / "rows.jsonl").read_text())
        self.figures["lost"] += ITEMS - round(row["score"] * row["n_examples"])
        self.figures["suites"] += 1

    def run(self, cycles):
        while self.figures["cycles"] < cycles:
            out = self.folder / f"out{self.figures['suites']}"
            while not self.cycle(out):
                pass
            self.finished(out)
            shutil.rmtree(out)
            print(f"{self.figures['cycles']} cycles, {self.figures['suites']} suites: lost {self.figures['lost']},"
                  f" sent twice {self.figures['sent_twice']}", file=sys.stderr)
        return dict(self.figures) | {"kills": dict(self.kills)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    how = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(Torture(os.environ["EVALCORE_PROGRAM"], pathlib.Path(folder), how.seed).run(how.cycles)))


if __name__ == "__main__":
    main()
