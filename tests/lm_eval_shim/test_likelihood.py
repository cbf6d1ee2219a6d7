"""Tasks that are scored by likelihood: lm-eval's local-completions, which sends token ids of the server's tokenizer, and
evalcore, which sends text, on a server with a fixed table; and the model in this process on known numbers."""

import json

import pytest
from conftest import MODELS, REPOSITORY

from evalcore import errors

DOCS = [
    {"question": f"Which colour is number {number}?", "choices": ["red", "dark green", "blue"], "label": number % 3}
    for number in range(12)
]
CHOICES = {
    "output_type": "multiple_choice",
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_choice": "{{choices}}",
    "doc_to_target": "{{label}}",
    "metric_list": [
        {"metric": "acc", "aggregation": "mean", "higher_is_better": True},
        {"metric": "acc_norm", "aggregation": "mean", "higher_is_better": True},
    ],
}
ROLLING = {
    "output_type": "loglikelihood_rolling",
    "doc_to_text": "",
    "doc_to_target": "{{text}}",
    "metric_list": [{"metric": "word_perplexity"}, {"metric": "bits_per_byte"}],
}


def own(server):
    return {"model": "m", "base_url": f"{server.url}/completions", "tokenizer_backend": "remote", "num_concurrent": 4}


def ours(server, tmp_path, **more):
    return {"base_url": server.url, "model": "m", "concurrency": 4, "out": str(tmp_path / "out"), **more}


def test_multiple_choice_scores_as_local_completions_does(server, task, evaluated, tmp_path):
    config = task("colours", DOCS, **CHOICES)
    theirs = evaluated("local-completions", own(server), config)
    asked = len(server.asked)
    assert evaluated("evalcore", ours(server, tmp_path), config) == theirs
    assert 0 < theirs[0]["colours"]["acc,none"] < 1
    # One request for each choice, and two by which the server shows what it returns.
    assert len(server.asked) == asked + 36 + 2
    assert server.asked[-1]["echo"] is True and isinstance(server.asked[-1]["prompt"], str)


def test_whether_a_continuation_is_greedy_is_told_alike(server, task, evaluated, tmp_path):
    # After ":" the table has " violet" at -0.128 and " red" at -8.862; the likeliest other has -1.5.
    docs = [{"question": "Which one?", "choices": ["red", "violet"], "label": 0}]
    config = task("colours", docs, **{**CHOICES, "metric_list": [{"metric": "acc"}]})
    _, theirs = evaluated("local-completions", own(server), config)
    _, samples = evaluated("evalcore", ours(server, tmp_path), config)
    greedy = [[one[0][1] for one in sample["resps"]] for sample in samples]
    assert greedy == [[one[0][1] for one in sample["resps"]] for sample in theirs] == [[False, True]]


def test_rolling_likelihoods_are_those_of_local_completions(server, task, evaluated, tmp_path):
    texts = ["The sky is blue today.", "Two words", "A third: longer, with signs - and 12 numbers."]
    config = task("texts", [{"text": text} for text in texts], **ROLLING)
    theirs = evaluated("local-completions", own(server), config)
    assert evaluated("evalcore", ours(server, tmp_path, prefix="<s>"), config) == theirs
    assert theirs[0]["texts"]["word_perplexity,none"] > 1


def test_likelihoods_of_turns_are_refused(server, task, evaluated, tmp_path):
    config = task("colours", DOCS, **CHOICES)
    with pytest.raises(errors.UnsupportedError, match="apply_chat_template"):
        evaluated("evalcore", ours(server, tmp_path), config, apply_chat_template=True)


def test_the_model_in_this_process_scores_as_another_evaluation_of_its_weights(task, evaluated, tmp_path):
    known = json.loads((REPOSITORY / "tests/data/engine/llama_numbers.json").read_text())["cases"]
    case = next(one for one in known if one["text"] == one["text"].rstrip())
    numbers = [one["sum_logprob"] for one in case["continuations"]]
    # The tiny model's vocabulary begins with the printable ASCII characters.
    spelled = [
        "".join({198: "\n", 220: " "}.get(token, chr(ord("!") + token)) for token in one["tokens"])
        for one in case["continuations"]
    ]
    docs = [{"question": case["text"], "choices": spelled, "label": numbers.index(max(numbers))}]
    config = task(
        "known", docs, **{**CHOICES, "doc_to_text": "{{question}}", "target_delimiter": ""}
    )  # fmt: skip
    args = {"model": str(MODELS / "canned.gguf"), "context_per_slot": 1024, "out": str(tmp_path / "out")}
    results, samples = evaluated("evalcore", args, config)
    assert results["known"]["acc,none"] == 1.0
    for (told,), one in zip(samples[0]["resps"], case["continuations"], strict=True):
        assert told[0] == pytest.approx(one["sum_logprob"], abs=0.001 * len(one["tokens"]))
        assert told[1] == one["is_greedy"]
