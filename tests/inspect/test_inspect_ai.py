"""The model provider, in inspect-ai itself: its log is compared with that of inspect-ai's own provider on the same
server, and with known answers of a script."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from by_heart import ANSWERS
from conftest import MODEL, REPOSITORY
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import match
from inspect_ai.solver import generate
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import JSONSchema
from servers import model_server

import evalcore
import evalcore.inspect_ai
from evalcore import _inspect_forms as forms


def blocks(language):
    guide = (REPOSITORY / "docs/inspect-ai.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", guide, flags=re.M | re.S)


def logs_of(folder, command):
    """What a command line of inspect-ai's leaves, by task."""
    folder.mkdir()
    shutil.copy(REPOSITORY / "tests/inspect/by_heart.py", folder)
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    done = subprocess.run(
        f"{command.rstrip()} --display none", shell=True, cwd=folder, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PATH": path, "LOCAL_API_KEY": "none"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    logs = [read_eval_log(str(log)) for log in (folder / "logs").iterdir()]
    return {log.eval.task: log for log in logs}


def told(log):
    """What a log says of each sample, without what may differ between two runs."""
    assert log.status == "success", log.error
    return [
        {
            "asked": sample.input,
            "answer": sample.output.completion,
            "calls": [
                [(call.function, call.arguments, call.parse_error) for call in message.tool_calls or []]
                for message in sample.messages
                if message.role == "assistant"
            ],
            "stop": sample.output.stop_reason,
            "tokens": (sample.output.usage.input_tokens_cache_read or 0) + sample.output.usage.input_tokens,
            "written": sample.output.usage.output_tokens,
            "score": sample.scores["match"].value,
        }
        for sample in sorted(log.samples, key=lambda one: str(one.input))
    ]


def test_the_command_of_the_guide_gives_what_its_own_provider_gives_on_the_same_server(tmp_path, server):
    (ours,) = [block for block in blocks("sh") if block.startswith("inspect eval")]
    ours = ours.replace("http://127.0.0.1:8000/v1", server)
    own = ours.replace("evalcore/openai-url", "openai-api/local/canned").replace("-M dialect=llama-server ", "")
    ours, own = logs_of(tmp_path / "ours", ours), logs_of(tmp_path / "own", own)
    assert ours.keys() == own.keys() == {"by_heart", "told", "weather"}
    for task in ours:
        assert told(ours[task]) == told(own[task])
        score, same = (one[task].results.scores[0].metrics["accuracy"].value for one in (ours, own))
        assert score == same
    by_heart = {one["asked"]: one["answer"] for one in told(ours["by_heart"])}
    assert (by_heart["hi"], by_heart["emoji"]) == (ANSWERS["hi"], ANSWERS["emoji"])
    assert all(one["calls"][0] for one in told(ours["weather"]))


def run(script, *asked, **arguments):
    """A log of `eval()` on a script, one sample for each of `asked`."""
    task = Task(dataset=[Sample(input=one, target="x") for one in asked], solver=generate(), scorer=match())
    config = {name: arguments.pop(name) for name in list(arguments) if name in GenerateConfig.model_fields}
    model = get_model("evalcore/scripted", memoize=False, config=GenerateConfig(**config), script=script, **arguments)
    (log,) = eval(task, model=model, display="none", log_dir=os.path.dirname(script), fail_on_error=False)
    return log


def test_stop_reasons_and_counts_of_tokens_are_those_of_inspect_ai(script):
    usage = {"prompt_tokens": 100, "cached_tokens": 60, "cache_write_tokens": 30, "completion_tokens": 7,
             "reasoning_tokens": 2}  # fmt: skip
    log = run(
        script(
            {"match": "whole", "text": "a", "usage": usage},
            {"match": "cut", "text": "b", "finish": "length"},
            {"match": "filtered", "text": "c", "finish": "content_filter"},
        ),
        "whole", "cut", "filtered",
    )  # fmt: skip
    whole, cut, filtered = sorted(log.samples, key=lambda one: one.output.completion)
    counts = whole.output.usage
    assert (counts.input_tokens, counts.input_tokens_cache_read, counts.input_tokens_cache_write) == (10, 60, 30)
    assert (counts.output_tokens, counts.reasoning_tokens, counts.total_tokens) == (7, 2, 107)
    assert [one.output.stop_reason for one in (whole, cut, filtered)] == ["stop", "max_tokens", "content_filter"]
    assert cut.output.usage is None, "what a backend does not tell is not 0"


def test_the_pool_asks_again_and_inspect_ai_does_not(script):
    lines = [{"error": {"code": "overloaded", "message": "busy"}}, {"text": "late"}]
    (sample,) = run(script(*lines), "Hi").samples
    events = [event for event in sample.events if event.event == "model"]
    assert (sample.output.completion, len(events), events[0].retries) == ("late", 1, None)


def test_a_failure_fails_its_sample_and_no_other(script):
    log = run(
        script({"match": "who", "error": {"code": "auth", "message": "no such key"}}, {"text": "fine"}), "who", "Hi"
    )
    errors = {sample.input: sample.error.message if sample.error else None for sample in log.samples}
    assert errors["Hi"] is None
    assert "no such key" in errors["who"]
    events = [event for event in log.samples[0].events if event.event == "model"]
    assert len(events) == 1, "what would fail again is not asked again"


def test_what_inspect_ai_may_ask_again_is_left_to_it_where_the_pool_may_not(script):
    model = get_model("evalcore/scripted", memoize=False, script=script({"text": "x"}), retries=0)
    busy = model.api.should_retry(evalcore.errors.RateLimitedError("slow down"))
    assert (bool(busy), busy.kind) == (True, "rate_limit")
    assert model.api.should_retry(evalcore.errors.TransportError("gone")).kind == "transient"
    assert not model.api.should_retry(evalcore.errors.AuthError("who"))
    assert not get_model("evalcore/scripted", memoize=False).api.should_retry(evalcore.errors.TransportError("gone"))


@pytest.mark.parametrize("code, reason", [("context_overflow", "model_length"), ("refused_content", "content_filter")])
def test_what_the_model_has_no_answer_to_is_an_answer(script, code, reason):
    (sample,) = run(script({"error": {"code": code, "message": "too much x"}}), "Hi").samples
    assert (sample.error, sample.output.stop_reason, sample.output.error) == (None, reason, "too much x")
    assert sample.output.completion == "", "the target stands in the words of the failure, which are not the model's"
    assert sample.scores["match"].value == "I"


def test_max_connections_is_what_the_pool_has_in_flight(script):
    model = get_model(
        "evalcore/scripted", memoize=False, config=GenerateConfig(max_connections=40), script=script({"text": "x"})
    )
    assert model.api.max_connections() == 40
    assert model.api._open().figures[0]["limit"] == 40
    model.api._close()


def test_a_key_by_value_is_refused_and_not_repeated():
    with pytest.raises(ValueError, match="api_key_env") as caught:
        get_model("evalcore/openai-url/x", memoize=False, api_key="sk-secret")
    assert "sk-secret" not in str(caught.value)


def test_options_that_evalcore_cannot_send_are_named():
    with pytest.raises(evalcore.errors.UnsupportedError, match="frequency_penalty, logit_bias"):
        forms.params(GenerateConfig(frequency_penalty=1, logit_bias={1: 2}), False)
    with pytest.raises(evalcore.errors.UnsupportedError, match="epochs"):
        forms.params(GenerateConfig(num_choices=2), False)
    described = ResponseSchema(name="n", json_schema=JSONSchema(type="object"), description="of a town")
    with pytest.raises(evalcore.errors.UnsupportedError, match="description"):
        forms.params(GenerateConfig(response_schema=described), False)
    sent = forms.params(GenerateConfig(stop_seqs=["x"], max_tokens=3, reasoning_tokens=9, max_retries=1), False)
    assert sent == {"stop": ["x"], "max_tokens": 3, "thinking": {"type": "enabled", "budget_tokens": 9}}


def test_the_options_that_are_sent_are_inspect_ais_and_evalcore_takes_them(script):
    assert forms.SENT.keys() | forms.NOT_SENT | forms.PLACED <= GenerateConfig.model_fields.keys()
    config = GenerateConfig(
        max_tokens=3, temperature=0.5, top_p=0.5, top_k=4, seed=5, stop_seqs=["x"], logprobs=True, top_logprobs=2,
        reasoning_effort="low", reasoning_tokens=9, parallel_tool_calls=False,
        response_schema=ResponseSchema(name="n", json_schema=JSONSchema(type="object"), strict=True),
    )  # fmt: skip
    info = ToolInfo(name="get_weather", description="The weather.", parameters=ToolParams())
    asked = forms.request([ChatMessageUser(content="Hi")], [info], "any", config)
    assert asked.params.keys() == {
        *forms.SENT.values(), "thinking", "parallel_tool_calls", "response_format", "tool_choice"
    }  # fmt: skip
    with evalcore.Pool(evalcore.Backend("scripted", script=script({"text": "x"}))) as pool:
        assert pool.submit(asked).result(10).text == "x"


def test_reasoning_comes_apart_and_goes_back_as_text():
    answer = ChatMessageAssistant(content=[ContentReasoning(reasoning="why"), ContentText(text="what")])
    assert forms.turn(answer)["content"] == "<think>\nwhy\n</think>\n\nwhat"
    for text, reasoning in (("what", "why"), ("<think>why</think>what", "")):
        reply = evalcore.Reply(text, reasoning, [], "stop", {}, {}, [], {"model": "m"})
        thought, said = forms.output(reply, "x", []).message.content
        assert (thought.reasoning, said.text) == ("why", "what")


@pytest.mark.parametrize("role", [ChatMessageAssistant, ChatMessageSystem, ChatMessageTool])
def test_contents_that_cannot_be_sent_are_named(role):
    with pytest.raises(evalcore.errors.UnsupportedError, match="image"):
        forms.turn(role(content=[ContentText(text="see"), ContentImage(image="data:image/png;base64,AA==")]))


def test_an_answer_without_what_was_asked_for_fails_its_sample():
    class Handler(model_server.Handler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply({
                "id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "x"}], "usage": {"input_tokens": 1, "output_tokens": 1},
            })  # fmt: skip

    async def ask(url, **config):
        async with get_model("evalcore/anthropic-url/m", memoize=False, base_url=url) as model:
            return await model.generate("Hi", config=GenerateConfig(max_tokens=4, **config))

    with model_server.Server(Handler) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        assert asyncio.run(ask(url)).completion == "x"
        with pytest.raises(Exception, match="no place for seed"):
            asyncio.run(ask(url, seed=5))
        server.shutdown()


def test_a_backend_whose_pool_cannot_be_made_is_closed(script, monkeypatch):
    opened = []

    def opens(*words, **options):
        opened.append(evalcore.Backend(*words, **options))
        return opened[-1]

    monkeypatch.setattr(evalcore.inspect_ai, "Backend", opens)
    model = get_model("evalcore/scripted", memoize=False, script=script({"text": "x"}), max_outstanding=0)
    with pytest.raises(evalcore.errors.InvalidArgumentError):
        model.api._open()
    assert [one._handle.closed for one in opened] == [True]


def test_a_model_serves_one_evaluation_after_another(script):
    path = script({"text": "x"})
    logs = [run(path, "Hi"), run(path, "Hi")]
    model = get_model("evalcore/scripted", memoize=False, script=path)
    task = Task(dataset=[Sample(input="Hi", target="x")], solver=generate(), scorer=match())
    for _ in range(2):
        logs += eval(task, model=model, display="none", log_dir=os.path.dirname(path))
    assert [log.results.scores[0].metrics["accuracy"].value for log in logs] == [1] * 4


def test_logprobs_are_those_of_the_server(server):
    config = GenerateConfig(temperature=0, max_tokens=4, logprobs=True, top_logprobs=2)

    async def asked(name, **arguments):
        async with get_model(name, memoize=False, base_url=server, **arguments) as model:
            output = await model.generate([ChatMessageUser(content="hi")], config=config)
            return [(one.token, one.logprob, len(one.top_logprobs)) for one in output.choices[0].logprobs.content]

    ours = asyncio.run(asked("evalcore/openai-url", dialect="llama-server"))
    own = asyncio.run(asked("openai-api/local/canned", api_key="none"))
    assert ours == own and len(ours) >= 3


def test_the_code_of_the_guide_prints_what_the_guide_says(tmp_path):
    (tmp_path / "model.gguf").symlink_to(MODEL.with_name("canned-q8_0.gguf"))
    done = subprocess.run(
        [sys.executable, "-c", *blocks("python")], cwd=tmp_path, env={**os.environ, "INSPECT_DISPLAY": "none"}, text=True,
        capture_output=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(blocks("text"))
