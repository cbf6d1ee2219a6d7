"""mlx_lm.server itself, on the tiny model: what it says by heart, and that nothing which ends it is ever sent."""

import json

import pytest

from conftest import MODEL, TOOLS, free_port, hi, question, serving, stored_replies, summary
from local_servers import status_of

FOLDER = MODEL.parent

# By user message: reasoning, text, calls.
BY_HEART = {
    "hi": ("", "Hello!", []),
    "think": ("Two plus two is four.", "The answer is 4.", []),
    "emoji": ("", "café 😀 你好", []),
    "tool": ("", "", [("get_weather", {"city": "Paris"})]),
    # The line end between the two calls is all the text there is.
    "two": ("", "\n", [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]),
    "mixed": ("", "Let me check.", [("get_weather", {"city": "Oslo"})]),
    "thinktool": ("Need weather.", "", [("get_weather", {"city": "Lima"})]),
    "noargs": ("", "", [("now", {})]),
    # The model writes its arguments as a string, and the server encodes that once more.
    "strargs": ("", "", [("get_weather", '{"city": "Paris"}')]),
    # A call that the server cannot read is lost on its side.
    "bad": ("", "", []),
}


def item(prompt, number=0, **more):
    turn = {"id": f"{prompt}-{number}", "messages": [{"role": "user", "content": prompt}], "target": "x", **more}
    return turn if prompt in ("hi", "think", "emoji") else {**turn, "tools": TOOLS}


def said(reply):
    return reply["reasoning"], reply["text"], [(call["name"], json.loads(call["arguments"])) for call in reply["calls"]]


@pytest.fixture(scope="module")
def mlx_port(mlx_server, tmp_path_factory):
    """One server for all tests that reach it by URL."""
    port = free_port()
    command = [mlx_server, "--model", FOLDER, "--host", "127.0.0.1", "--port", port]
    with serving(port, command, tmp_path_factory.mktemp("mlx") / "log"):
        yield port


@pytest.fixture
def by_url(mlx_port):
    return [
        "-b",
        "openai-url",
        "--base-url",
        f"http://127.0.0.1:{mlx_port}",
        "--dialect",
        "mlx-server",
        "--temperature",
        0,
        "--max-tokens",
        200,
        "--out",
        "out",
    ]


def check_by_heart(replies):
    assert replies
    for name, reply in replies.items():
        assert said(reply) == BY_HEART[name.partition("-")[0]], name
        assert reply["finish"] == ("tool_calls" if reply["calls"] or name.startswith("bad") else "stop"), name
        usage = reply["usage"]
        assert 0 <= usage["cached_tokens"] < usage["prompt_tokens"], name
        assert usage["completion_tokens"] > 0, name


def test_a_managed_server_says_what_it_knows_by_heart(evalcore, mlx_server, write_suite, tmp_path):
    suite = write_suite("suite.jsonl", [item(prompt) for prompt in BY_HEART])
    done = evalcore(
        "run",
        suite,
        "-b",
        "mlx-server",
        "--server-program",
        mlx_server,
        "--model",
        FOLDER,
        "--temperature",
        0,
        "--max-tokens",
        200,
        "--out",
        "out",
    )
    assert done.returncode == 0, done.stderr
    replies = stored_replies(tmp_path / "out")
    assert len(replies) == len(BY_HEART)
    check_by_heart(replies)
    assert summary(tmp_path / "out")["tools"] == "native"


@pytest.mark.parametrize("stream", [[], ["--no-stream"]], ids=["streamed", "whole"])
def test_many_at_once_say_the_same(evalcore, by_url, write_suite, tmp_path, stream):
    suite = write_suite("suite.jsonl", [item(prompt, number) for number in range(4) for prompt in BY_HEART])
    done = evalcore("run", suite, *by_url, "-c", 16, *stream)
    assert done.returncode == 0, done.stderr
    replies = stored_replies(tmp_path / "out")
    assert len(replies) == 4 * len(BY_HEART)
    check_by_heart(replies)


def test_a_shared_prefix_is_reported_as_cached(evalcore, by_url, write_suite, tmp_path):
    shared = "You are terse. " * 20
    suite = write_suite("suite.jsonl", [question(number, shared) for number in range(8)])
    done = evalcore("run", suite, *by_url, "-c", 4)
    assert done.returncode == 0, done.stderr
    # One token a byte; the first item computes the prefix, the others find it.
    assert summary(tmp_path / "out")["cached_tokens"] >= 7 * len(shared)


def test_stop_strings_and_bounds_are_honoured(evalcore, by_url, write_suite, tmp_path):
    suite = write_suite(
        "suite.jsonl",
        [
            item("hi", 1, params={"stop": ["o"]}),
            item("hi", 2, params={"max_tokens": 3}),
            item("hi", 3, params={"seed": 7}),
        ],
    )
    done = evalcore("run", suite, *by_url)
    assert done.returncode == 0, done.stderr
    replies = stored_replies(tmp_path / "out")
    assert [(replies[f"hi-{n}"]["text"], replies[f"hi-{n}"]["finish"]) for n in (1, 2, 3)] == [
        ("Hell", "stop"),
        ("Hel", "length"),
        ("Hello!", "stop"),
    ]


def test_reasoning_cut_short_stays_reasoning(evalcore, by_url, write_suite, tmp_path):
    done = evalcore("run", write_suite("suite.jsonl", [item("think", 1, params={"max_tokens": 12})]), *by_url)
    assert done.returncode == 0, done.stderr
    reply = stored_replies(tmp_path / "out")["think-1"]
    assert BY_HEART["think"][0].startswith(reply["reasoning"]) and reply["reasoning"]
    assert (reply["text"], reply["finish"]) == ("", "length")


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_the_completions_route_continues_a_prompt(ask, mlx_port, stream):
    told = ask(
        api="completions",
        url=f"http://127.0.0.1:{mlx_port}",
        dialect="mlx-server",
        stream=stream,
        prompts=["<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"],
        params={"temperature": 0, "max_tokens": 50},
    )
    assert [(one["text"], one["finish"]) for one in told["completions"]] == [("Hello!", "stop")]
    assert told["usage"]["prompt"] == 21  # "user", "hi", "assistant", three line ends and three marks


# What is known to end the server for all its clients.
@pytest.mark.parametrize(
    "poison",
    [
        {"params": {"stop": [5]}},
        {"params": {"logit_bias": {"99999999": 5}}},
    ],
    ids=["a stop that is a number", "a bias on a token that is not there"],
)
def test_a_suite_with_poison_is_refused_before_anything_is_sent(evalcore, by_url, write_suite, poison):
    done = evalcore("run", write_suite("suite.jsonl", [hi(1), {**hi(2), **poison}]), *by_url)
    assert done.returncode == 2
    assert "suite.jsonl:2" in done.stderr


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    "prompts, refusal",
    [
        ([""], "invalid_argument"),
        (["a", "b"], "unsupported"),
    ],
    ids=["an empty prompt", "several prompts"],
)
def test_a_completion_with_poison_is_refused_before_anything_is_sent(ask, prompts, refusal, stream):
    # Nobody listens at this port: a request that went out would end in `transport`.
    told = ask(api="completions", url="http://127.0.0.1:9", dialect="mlx-server", stream=stream, prompts=prompts)
    assert told["error"] == refusal
    assert "it can end it" in told["message"]


def test_an_empty_turn_is_answered(evalcore, by_url, write_suite, tmp_path):
    """The template makes a prompt of it, so that it is none of what ends the server."""
    done = evalcore("run", write_suite("suite.jsonl", [item("", 1)]), *by_url)
    assert done.returncode == 0, done.stderr


def test_a_probe_that_knows_nothing_of_the_server_does_it_no_harm(evalcore, mlx_port):
    done = evalcore("probe", f"http://127.0.0.1:{mlx_port}", "-m", "default_model", "--json")
    assert done.returncode == 0, done.stderr
    found = {name: one["answer"] for name, one in json.loads(done.stdout)["findings"].items()}
    assert {name for name, answer in found.items() if answer == "no"} >= {"n", "response_format", "prompt_logprobs"}
    assert (found["chat"], found["cached_tokens"], found["stop"], found["tools"]) == ("yes",) * 4
    assert (found["prompt_arrays"], found["prompt_tokens"]) == ("unknown", "unknown")


def test_after_all_of_it_the_server_still_answers(ask, mlx_port):
    """The last test of this file, since it speaks of those before it."""
    assert status_of(mlx_port, "/health") == 200
    told = ask(
        api="chat",
        url=f"http://127.0.0.1:{mlx_port}",
        dialect="mlx-server",
        stream=True,
        messages=[{"role": "user", "content": "hi"}],
        params={"temperature": 0, "max_tokens": 50},
    )
    assert told["text"] == "Hello!"
