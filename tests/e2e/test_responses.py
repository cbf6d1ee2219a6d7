"""OpenAI's Responses API: the real server's own route, and what is asked of a server that never heard of stop strings."""

import pytest

from conftest import hi, stored_replies, summary


def by_url(url, *more):
    return [
        "-b",
        "openai-url",
        "--base-url",
        url,
        "--api",
        "responses",
        "--max-tokens",
        16,
        "--temperature",
        0,
        "--out",
        "out",
        *more,
    ]


@pytest.mark.parametrize("stream", [[], ["--no-stream"]])
def test_a_suite_runs_through_the_responses_route(evalcore, write_suite, tmp_path, proxy_to, stream):
    proxy = proxy_to()
    item = {**hi(1), "params": {"seed": 5}}
    suite = write_suite("suite.jsonl", [item])
    done = evalcore("run", suite, *by_url(proxy.url, *stream))
    assert done.returncode == 0, done.stderr
    # "Hello!" is what the tiny model says by heart.
    assert [metric["score"] for metric in summary(tmp_path / "out")["metrics"]] == [1.0]
    reply = stored_replies(tmp_path / "out")["i1"]
    assert (reply["text"], reply["finish_raw"], reply["dropped"]) == ("Hello!", "completed", ["seed"])
    [(path, body)] = proxy.posts
    assert path == "/v1/responses"
    assert body["input"] == [{"type": "message", "role": "user", "content": "hi"}]
    assert body["max_output_tokens"] == 16
    assert body["store"] is False


def test_replies_of_the_two_apis_are_never_taken_for_each_other(evalcore, write_suite, tmp_path, proxy_to):
    proxy = proxy_to()
    suite = write_suite("suite.jsonl", [hi(1)])
    assert evalcore("run", suite, *by_url(proxy.url)).returncode == 0
    chat = by_url(proxy.url)
    chat[chat.index("responses")] = "chat"
    assert evalcore("run", suite, *chat).returncode == 0
    assert [path for path, _ in proxy.posts] == ["/v1/responses", "/v1/chat/completions"]


@pytest.mark.parametrize(
    "wrong, told",
    [
        (["-b", "openai-url", "--api", "responses", "--dialect", "llama-server"], ["llama-server", "--api chat"]),
        (["-b", "openai-url", "--api", "responses", "--dialect", "mlx-server"], ["mlx-server", "--api chat"]),
        (["-b", "anthropic-url", "--api", "responses"], ["--api", "anthropic-url"]),
        (["-b", "openai-url", "--api", "edits"], ["edits", "chat, responses, completions"]),
    ],
)
def test_a_wrong_choice_names_the_mend(evalcore, write_suite, wrong, told):
    suite = write_suite("suite.jsonl", [hi(1)])
    # Nobody listens there: the choice is refused before anything is asked.
    done = evalcore("run", suite, *wrong, "--base-url", "http://127.0.0.1:9", "--model", "m")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    for words in told:
        assert words in done.stderr
