"""Tasks whose answers are generated: lm-eval's own models and evalcore, on one real server with one slot."""

import os

import pytest
from conftest import MODELS
from local_servers import free_port, serving

import evalcore
from evalcore import errors
from evalcore.lm_eval import Model

DOCS = [{"question": question, "answer": "Hello!"} for question in ("hi", "What is it?", "now", "2 + 2", "Tell me")]
ASKED = {
    "output_type": "generate_until",
    "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}",
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}
# What the server found in its cache must not differ between the two.
NO_CACHE = {"cache_prompt": False}


@pytest.fixture(scope="module")
def llama_url(tmp_path_factory):
    port = free_port()
    command = [os.environ["EVALCORE_LLAMA_SERVER"], "--model", MODELS / "canned.gguf", "--host", "127.0.0.1",
               "--port", port, "--parallel", 1, "--ctx-size", 1024, "--threads", 1]  # fmt: skip
    with serving(port, command, tmp_path_factory.mktemp("server") / "log"):
        yield f"http://127.0.0.1:{port}/v1"


def config_of(task, **generation):
    return task("greetings", DOCS, **ASKED, generation_kwargs={"max_gen_toks": 12, **generation})


@pytest.mark.parametrize("chat", [False, True], ids=["text", "chat"])
@pytest.mark.parametrize(
    "generation",
    [
        {"until": ["\n\n", "!"]},
        {"until": "a", "do_sample": True, "temperature": 0.9, "top_p": 0.95},
        {"temperature": 0.7, "seed": 7, "max_tokens": 5},
    ],
    ids=["greedy", "sampled", "own_seed"],
)
def test_answers_and_scores_are_those_of_lm_evals_own_model(llama_url, task, evaluated, tmp_path, chat, generation):
    config = config_of(task, **generation)
    route, model = ("chat/completions", "local-chat-completions") if chat else ("completions", "local-completions")
    own = {"model": "m", "base_url": f"{llama_url}/{route}", "tokenizer_backend": None}
    theirs = evaluated(model, own, config, apply_chat_template=chat, gen_kwargs=dict(NO_CACHE))
    ours = {"base_url": llama_url, "dialect": "llama-server", "model": "m", "out": str(tmp_path / "out"),
            "prompt_cache": False}  # fmt: skip
    told = evaluated("evalcore", ours, config_of(task, **generation), apply_chat_template=chat)
    assert told == theirs
    assert any(sample["resps"][0][0] for sample in theirs[1])


def test_a_model_that_is_given_is_asked(task, evaluated, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text('{"match": "hi", "text": "Hello!"}\n{"text": "?"}\n')
    model = Model(evalcore.Backend("scripted", script=script), out=tmp_path / "out")
    results, samples = evaluated(model, None, config_of(task))
    assert results["greetings"]["exact_match,none"] == 0.2
    assert [sample["resps"] for sample in samples] == [[["Hello!"]]] + [[["?"]]] * 4


def test_the_model_in_this_process_generates_without_and_with_its_template(task, evaluated, tmp_path):
    args = f"model={MODELS / 'canned-q8_0.gguf'},context_per_slot=1024,out={tmp_path / 'out'}"
    results, _ = evaluated("evalcore", args, config_of(task), apply_chat_template=True)
    # The tiny model greets whoever says hi.
    assert results["greetings"]["exact_match,none"] >= 0.2
    _, samples = evaluated("evalcore", args, config_of(task))
    assert len(samples) == 5


def test_a_backend_that_is_given_answers_only_what_it_was_opened_for(llama_url, task, evaluated, tmp_path):
    turns = evalcore.Backend("openai-url", base_url=llama_url, dialect="llama-server", model="m")
    with pytest.raises(errors.UnsupportedError, match="answers turns, in a template"):
        evaluated(Model(turns, out=tmp_path / "out"), None, config_of(task))
    with pytest.raises(errors.InvalidArgumentError, match="no option: dialect"):
        Model(turns, dialect="vllm")


@pytest.mark.parametrize(
    "args, told",
    [
        ({"num_concurrent": 4}, "say concurrency"),
        ({"api_key": "sk-secret"}, "api_key_env"),
        ({"colour": "red"}, "no 'colour'; there are: "),
    ],
)
def test_an_option_that_does_not_exist_is_told_with_what_to_say(args, told):
    with pytest.raises(errors.InvalidArgumentError, match=told) as caught:
        Model("openai-url", base_url="http://127.0.0.1:9/v1", **args)
    assert "sk-secret" not in str(caught.value)


def test_a_generation_argument_that_a_suite_does_not_know_is_refused_by_name(server, task, evaluated, tmp_path):
    args = {"base_url": server.url, "model": "m", "out": str(tmp_path / "out")}
    with pytest.raises(errors.BadSuiteError, match="min_p"):
        evaluated("evalcore", args, config_of(task, min_p=0.1))
    assert server.asked == []
