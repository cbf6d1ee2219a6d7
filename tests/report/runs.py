"""Runs on the scripted backend, whose replies, times and failures a test chooses."""

import json
import subprocess


class Runs:
    """The command in a folder of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def __call__(self, *arguments, code=0):
        done = subprocess.run(
            [self.program, *map(str, arguments)], cwd=self.folder, text=True, capture_output=True, timeout=900
        )
        assert done.returncode == code, done.stderr
        return done

    def suite(self, items, name="suite.jsonl"):
        (self.folder / name).write_text("".join(json.dumps(item) + "\n" for item in items))

    def run(self, name, replies, *arguments, suite="suite.jsonl", model=None, code=0):
        """replies: lines of a script (include/evalcore/backend/scripted.hpp)."""
        (self.folder / f"{name}.script").write_text("".join(json.dumps(line) + "\n" for line in replies))
        self("run", suite, "-b", "scripted", "--script", f"{name}.script", "--retries", 0, "--out", name, "--model-name", model or name,
             "--quiet", *arguments, code=code)  # fmt: skip

    def report(self, *arguments):
        self("report", *arguments)
