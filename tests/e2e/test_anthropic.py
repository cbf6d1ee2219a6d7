"""The same server through OpenAI's route and through Anthropic's."""

import pytest

from conftest import hi, summary


@pytest.mark.parametrize("selector, stream", [("openai-url", []), ("anthropic-url", []), ("anthropic-url", ["--no-stream"])])
def test_both_routes_of_one_server_answer_alike(evalcore, write_suite, tmp_path, server_port, selector, stream):
    suite = write_suite("suite.jsonl", [hi(1), hi(2)])
    done = evalcore("run", suite, "-b", selector, "--base-url", f"http://127.0.0.1:{server_port}", "--dialect",
                    "llama-server", "--max-tokens", 16, "--temperature", 0, "--out", "out", *stream)
    assert done.returncode == 0, done.stderr
    told = summary(tmp_path / "out")
    # "Hello!" is what the tiny model says by heart.
    assert [metric["score"] for metric in told["metrics"]] == [1.0]
    assert told["backend"]["selector"] == selector
