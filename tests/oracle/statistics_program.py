"""evalcore's side: the program built from tests/tools/statistics.cpp, named by EVALCORE_STATISTICS."""

import json
import os
import subprocess


class Statistics:
    """Asks one running program question after question."""

    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["EVALCORE_STATISTICS"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, what, **given):
        self.process.stdin.write(json.dumps({"do": what, **given}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
