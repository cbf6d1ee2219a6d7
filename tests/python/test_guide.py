"""docs/python.md does what it says."""

import os
import re
import subprocess
import sys

from conftest import MODEL, REPOSITORY

GUIDE = (REPOSITORY / "docs/python.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, flags=re.M | re.S)


def test_the_code_of_the_guide_prints_what_the_guide_says(tmp_path):
    (tmp_path / "model.gguf").symlink_to(MODEL)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks("python"))], cwd=tmp_path, env=environment, text=True,
        capture_output=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(blocks("text"))
    assert len(blocks("text")) == 9
