"""llama.cpp's server on its three routes: OpenAI's chat, Anthropic's messages, and text completions."""

import json

import pytest

from conftest import SLOT_TOKENS, TOOLS, summary

CITY = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
# The template leaves reasoning in the text.
BY_HEART = {
    "hi": "Hello!",
    "think": "<think>Two plus two is four.</think>The answer is 4.",
    "emoji": "café 😀 你好",
}
chat_routes = pytest.mark.parametrize("api", ["chat", "messages"])
all_routes = pytest.mark.parametrize("api", ["chat", "messages", "completions"])
both_ways = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def rendered(prompt):
    """The one user turn as the model's template writes it: 19 tokens and one for each byte of the prompt."""
    return f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture
def asked(ask, one_slot_port):
    """Asks one route for an answer to one user turn; text and finish of a completion stand where those of a reply do."""

    def run(api, stream, prompt, params=None, **more):
        question = {
            "api": api,
            "url": f"http://127.0.0.1:{one_slot_port}",
            "dialect": "llama-server",
            "stream": stream,
            **more,
        }
        question["params"] = {"temperature": 0, "max_tokens": 80, **(params or {})}
        if api == "completions":
            question["prompts"] = [rendered(prompt)]
        else:
            question["messages"] = [{"role": "user", "content": prompt}]
        told = ask(**question)
        return told | told["completions"][0] if "completions" in told else told

    return run


@pytest.mark.parametrize("stream", [[], ["--no-stream"]], ids=["streamed", "whole"])
def test_a_run_of_text_completions_sends_prompts_as_they_stand(evalcore, write_suite, one_slot_port, tmp_path, stream):
    items = [{"id": prompt, "prompt": rendered(prompt), "target": BY_HEART[prompt]} for prompt in ("hi", "emoji")]
    turns = [{"id": 1, "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}], "target": "z"}]
    common = ["-b", "openai-url", "--base-url", f"http://127.0.0.1:{one_slot_port}", "--dialect", "llama-server",
              "--api", "completions", "--temperature", "0", "--max-tokens", "80", *stream]  # fmt: skip
    done = evalcore("run", write_suite("suite.jsonl", items), *common, "--out", "out")
    assert done.returncode == 0, done.stderr
    told = summary(tmp_path / "out")
    assert (told["score"], told["backend"]["identity"]["api"]) == (1, "completions")
    assert told["prompt_tokens"] == 2 * 19 + len("hi" + "emoji")
    refused = evalcore("run", write_suite("turns.jsonl", turns), *common, "--out", "turns")
    assert refused.returncode == 2
    assert "turns.jsonl:1: a text completion is of one user turn" in refused.stderr


@all_routes
@both_ways
@pytest.mark.parametrize("prompt", BY_HEART)
def test_what_the_model_knows_by_heart(asked, api, stream, prompt):
    told = asked(api, stream, prompt)
    assert (told["text"], told["finish"]) == (BY_HEART[prompt], "stop")
    assert told["usage"]["prompt"] == 19 + len(prompt)
    # A token is a byte or a mark, and there is the mark of the end.
    marks_as_bytes = BY_HEART[prompt].replace("<think>", "<").replace("</think>", ">")
    assert told["usage"]["completion"] == len(marks_as_bytes.encode()) + 1


@all_routes
@both_ways
def test_cached_tokens_are_those_of_the_prompt_before(asked, api, stream):
    prompt = f"{api} asked for the first time, {'streamed' if stream else 'whole'}"
    first, again = asked(api, stream, prompt)["usage"], asked(api, stream, prompt)["usage"]
    # The turn's beginning is what it has in common with all others; "<|im_start|>user" and the line end are 6 tokens.
    assert 6 <= first["cached"] < first["prompt"] - len("time, whole")
    # The last token is computed again for its logits.
    assert again == {**first, "cached": first["prompt"] - 1}


@all_routes
@both_ways
def test_a_prompt_that_is_too_long_overflows(asked, api, stream):
    told = asked(api, stream, "x" * SLOT_TOKENS)
    assert (told["error"], told["status"]) == ("context_overflow", 400)
    assert f"{SLOT_TOKENS + 19} tokens" in told["words"]


@all_routes
@both_ways
def test_a_stop_string_ends_the_text_before_it(asked, api, stream):
    told = asked(api, stream, "hi", {"stop": ["lo"]})
    assert (told["text"], told["finish"]) == ("Hel", "stop")
    if api == "messages":
        assert told["stop_string"] == "lo"


@all_routes
@both_ways
def test_a_bound_on_tokens_cuts(asked, api, stream):
    told = asked(api, stream, "hi", {"max_tokens": 3})
    assert (told["text"], told["finish"]) == ("Hel", "length")


@chat_routes
@both_ways
def test_calls_are_those_of_declared_tools(asked, api, stream):
    told = asked(api, stream, "tool", tools=CITY)
    assert told["finish"] == "tool_calls" and told["text"] == ""
    (call,) = told["calls"]
    assert call["name"] == "get_weather" and call["id"]
    assert json.loads(call["arguments"]).keys() == {"city"}


@chat_routes
@both_ways
def test_text_and_several_calls(asked, api, stream):
    told = asked(api, stream, "mixed", tools=TOOLS)
    assert (told["finish"], told["text"]) == ("tool_calls", "Let me check.")
    assert len({call["id"] for call in told["calls"]}) == len(told["calls"]) >= 1
    for call in told["calls"]:
        assert call["name"] in ("get_weather", "now")
        assert isinstance(json.loads(call["arguments"]), dict)


@both_ways
def test_several_prompts_of_one_completion(ask, one_slot_port, stream):
    told = ask(api="completions", url=f"http://127.0.0.1:{one_slot_port}", dialect="llama-server", stream=stream,
               prompts=[rendered("hi"), rendered("emoji")], params={"temperature": 0, "max_tokens": 40})  # fmt: skip
    assert [one["text"] for one in told["completions"]] == [BY_HEART["hi"], BY_HEART["emoji"]]
    # The server counts one of them.
    assert told["usage"]["prompt"] is None
