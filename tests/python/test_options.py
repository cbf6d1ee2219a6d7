"""Every option of C can be given by keyword; what is wrong is told by name."""

import re

import pytest
from conftest import REPOSITORY

import evalcore
from evalcore import options

KINDS = {
    "backend": options.BackendOptions, "pool": options.PoolOptions, "run": options.RunOptions,
    "engine": options.EngineOptions, "episodes": options.EpisodesOptions,
    "score": options.ScoreOptions, "gate": options.GateOptions, "gate_rows": options.GateRowsOptions,
    "power": options.PowerOptions,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_option_of_the_header_has_its_keyword(kind):
    headers = "".join(path.read_text() for path in (REPOSITORY / "include/evalcore/c").glob("*.h"))
    setters = set(re.findall(rf"evc_{kind}_options_set_(\w+)\(", headers))
    adders = set(re.findall(rf"evc_{kind}_options_add_(\w+)\(", headers))
    several = {name for name in KINDS[kind].__annotations__ if name in options.MANY}
    assert {options.MANY[name] for name in several} == adders
    # Those that must be given are arguments.
    required = {"run": {"out"}, "episodes": {"suite"}}.get(kind, set())
    assert set(KINDS[kind].__annotations__) - several == setters - required


@pytest.mark.parametrize("wrong", [{"slots": 0}, {"slots": 2**32 + 4}, {"port": -1}, {"insecure": 2}])
def test_a_value_out_of_its_range_is_refused_by_name(wrong):
    with pytest.raises(evalcore.errors.InvalidArgumentError, match=next(iter(wrong))):
        evalcore.Backend("embedded", **wrong)


@pytest.mark.parametrize(
    ("selector", "wrong", "why"),
    [
        ("embedded", {"slots": 257}, "slots=257 is refused: slots must be 1 to 256"),
        ("openai-url", {"idle_timeout_s": -1}, "idle_timeout_s=-1 is refused: idle_timeout must be 0 to 10000000"),
        ("openai-url", {"dialect": "none"}, "dialect='none' is refused: there is no dialect of that name"),
        ("openai-url", {"headers": {"": "x"}}, "headers: '' is refused: header has no name"),
    ],
)
def test_a_refused_value_comes_with_the_reason(selector, wrong, why):
    with pytest.raises(evalcore.errors.InvalidArgumentError) as caught:
        evalcore.Backend(selector, **wrong)
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize("wrong", [{"slot": 1}, {"slots": "4"}, {"threads": 1.5}])
def test_another_name_or_type_is_a_type_error(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        evalcore.Backend("embedded", **wrong)


def test_a_text_in_the_place_of_a_list_is_one_word(tmp_path):
    program = tmp_path / "server"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>{tmp_path}/words\nexit 1\n')
    program.chmod(0o755)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(evalcore.EvalcoreError):
        evalcore.Backend(
            "llama-server", model=tmp_path / "model.gguf", server_program=program, backend_args="--no-warmup"
        )
    assert "--no-warmup" in (tmp_path / "words").read_text().splitlines()


def test_an_option_that_the_backend_has_no_use_for_is_refused(write_lines):
    script = write_lines("s.jsonl", {"text": "x"})
    with pytest.raises(evalcore.errors.InvalidArgumentError):
        evalcore.Backend("scripted", script=script, headers={"X-One": "1"})
