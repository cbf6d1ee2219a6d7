"""Whatever is wrong: one clear sentence on standard error that names the thing and the mend, exit 2 or 3, no stack
trace, nothing half-written."""

import json
import os
import socket
import stat
import subprocess

import pytest

from conftest import MODEL, hi

GOOD = json.dumps(hi(1)) + "\n"


def one_sentence(done, code, *words):
    assert done.returncode == code, (done.returncode, done.stderr)
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert lines and lines[0].startswith("evalcore: "), done.stderr
    for word in words:
        assert word in done.stderr, (word, done.stderr)
    for trace in ("terminate called", "Traceback", "what():", "/usr/include", "core dumped"):
        assert trace not in done.stderr


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.jsonl"
    path.write_text(GOOD)
    return path


def left_behind(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir() if path.name not in ("suite.jsonl", "helper"))


def test_no_backend_named(evalcore, suite, tmp_path):
    one_sentence(evalcore("run", suite), 2, "--backend", "llama-server", "openai-url", "scripted")
    assert left_behind(tmp_path) == []


def test_an_unknown_backend(evalcore, suite):
    one_sentence(evalcore("run", suite, "--backend", "gpt"), 2, '"gpt"', "llama-server")


@pytest.mark.parametrize("target, words", [
    ("localhost:8080", ["http:// or https://", "did you mean http://localhost:8080?"]),
    ("http://127.0.0.1:9/v1/chat/completions", ["without /chat/completions", "http://127.0.0.1:9/v1"]),
])
def test_a_base_url_that_was_not_meant_so(evalcore, suite, target, words):
    one_sentence(evalcore("probe", target, "--dialect", "vllm"), 2, *words)
    for backend in ("openai-url", "anthropic-url"):
        one_sentence(evalcore("run", suite, "--backend", backend, "--base-url", target), 2, *words)


def test_an_address_in_place_of_a_backend(evalcore, suite):
    done = evalcore("run", suite, "--backend", "me:SENTINEL-4711@localhost:8080")
    one_sentence(done, 2, "--base-url", "openai-url")
    assert "SENTINEL" not in done.stderr


def test_an_unknown_option(evalcore, suite):
    one_sentence(evalcore("run", suite, "--frobnicate"), 2, "--frobnicate", "evalcore run --help")


def test_an_unknown_command(evalcore):
    one_sentence(evalcore("frobnicate"), 2, '"frobnicate"', "run", "plan", "backends")


@pytest.mark.parametrize("option, value", [
    ("--limit", "-1"), ("--limit", ""), ("--limit", "99999999999999999999"), ("--limit", "0"),
    ("--temperature", "nan"), ("--temperature", "-1"), ("--temperature", ""), ("--top-p", "5"),
    ("--max-tokens", "0"), ("--max-tokens", "010"), ("--seed", "99999999999999999999"), ("--stop", ""),
    ("--concurrency", "0"), ("--tools", "2"), ("--order", "random"), ("--idle-timeout", "nan"),
    ("--connect-timeout", "-1"), ("--port", "0"),
])
def test_a_value_that_cannot_be_meant_is_refused(evalcore, suite, option, value):
    """Before anything is sent: a wrong number must not run, or pay for, something else."""
    (suite.parent / "helper").write_text('{"text": "x"}\n')
    one_sentence(evalcore("run", suite, "--backend", "scripted", "--script", "helper", option, value), 2, option)


@pytest.mark.parametrize("line, words", [
    ("{nonsense\n", ["suite.jsonl:2", "JSON"]),
    ('{"prompt": "x", "target": "y"}\n', ["suite.jsonl:2", '"id"']),
    ('{"id": "a", "target": "y"}\n', ["suite.jsonl:2", '"messages"', '"prompt"']),
    ('{"id": "a", "prompt": "x"}\n', ["suite.jsonl:2", '"target"']),
    ('{"id": "i1", "prompt": "x", "target": "y"}\n', ["suite.jsonl:2", '"i1"', "1"]),
    ('{"id": "a", "prompt": "x", "target": "y", "scorer": "vibes"}\n', ["suite.jsonl:2", '"vibes"', "exact", "numeric"]),
    ('{"id": "a", "prompt": "x", "target": "y", "scoror": "numeric"}\n', ["suite.jsonl:2", '"scoror"', "metadata"]),
    ('{"id": "a", "prompt": "x", "target": "y", "target": "z"}\n', ["suite.jsonl:2", '"target" twice']),
    ('{"id": "a", "messages": [{"role": "wizard", "content": "x"}], "target": "y"}\n', ["suite.jsonl:2", '"wizard"']),
])
def test_a_bad_line_is_named(evalcore, suite, tmp_path, line, words):
    suite.write_text(GOOD + line)
    (tmp_path / "helper").write_text('{"text": "x"}\n')
    for command in ("run", "plan"):
        backend = ["--backend", "scripted", "--script", "helper"] if command == "run" else []
        one_sentence(evalcore(command, suite, *backend), 2, *words)
    assert left_behind(tmp_path) == []


def test_what_the_backend_would_refuse_is_named_before_anything_is_sent(evalcore, suite, server_port):
    line = {**hi(2), "params": {"max_tokens": 1024, "thinking": {"type": "enabled", "budget_tokens": 1024}}}
    suite.write_text(GOOD + json.dumps(line) + "\n")
    backend = ["--backend", "anthropic-url", "--base-url", f"http://127.0.0.1:{server_port}", "--model", "m"]
    for command in ("run", "plan"):
        one_sentence(evalcore(command, suite, *backend), 2, "suite.jsonl:2", "thinking budget", "less than max_tokens")


def test_a_missing_suite(evalcore):
    one_sentence(evalcore("run", "nowhere.jsonl", "--backend", "scripted"), 2, "nowhere.jsonl")


def test_a_missing_model(evalcore, suite, llama_server, tmp_path):
    one_sentence(evalcore("run", suite, "--backend", "llama-server", "--server-program", llama_server, "--model",
                          "/nowhere/model.gguf"), 3, "/nowhere/model.gguf")
    assert left_behind(tmp_path) == []


def test_no_model(evalcore, suite):
    one_sentence(evalcore("run", suite, "--backend", "llama-server"), 2, "--model")


def test_a_missing_program(evalcore, suite, tmp_path):
    one_sentence(evalcore("run", suite, "--backend", "llama-server", "--server-program", "no-such-server", "--model",
                          MODEL), 3, "no-such-server", "--server-program")
    assert left_behind(tmp_path) == []


def test_a_port_in_use(evalcore, suite, canned):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        one_sentence(evalcore("run", suite, *canned, "--port", port), 3, str(port), "in use")


def test_a_server_that_dies_while_loading(evalcore, suite, tmp_path):
    dying = tmp_path / "helper"
    dying.write_text("#!/bin/sh\necho the tensors are upside down >&2\nexit 7\n")
    dying.chmod(dying.stat().st_mode | stat.S_IXUSR)
    one_sentence(evalcore("run", suite, "--backend", "llama-server", "--server-program", dying, "--model", MODEL), 3,
                 "exit code 7", "the tensors are upside down")
    assert left_behind(tmp_path) == []


def test_a_model_that_is_no_model(evalcore, suite, llama_server, tmp_path):
    (tmp_path / "helper").write_text("not a GGUF file")
    one_sentence(evalcore("run", suite, "--backend", "llama-server", "--server-program", llama_server, "--model",
                          tmp_path / "helper"), 2, "GGUF", "--model")


def test_a_url_that_refuses(evalcore, suite, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    one_sentence(evalcore("run", suite, "--backend", "openai-url", "--base-url", f"http://127.0.0.1:{port}"), 3,
                 f"127.0.0.1:{port}", "refused")
    assert left_behind(tmp_path) == []


def test_a_url_that_is_none(evalcore, suite):
    one_sentence(evalcore("run", suite, "--backend", "openai-url", "--base-url", "ftp://x"), 2, "base URL", "http://")
    one_sentence(evalcore("run", suite, "--backend", "openai-url"), 2, "--base-url")


def test_a_store_that_is_none(evalcore, suite, tmp_path):
    (tmp_path / "helper").write_text("this is a text, not a store, and must not be overwritten" * 100)
    (tmp_path / "script").write_text('{"text": "Hello!"}\n')
    before = (tmp_path / "helper").read_bytes()
    one_sentence(evalcore("run", suite, "--backend", "scripted", "--script", "script", "--store", "helper"), 2, "helper")
    assert (tmp_path / "helper").read_bytes() == before


def test_an_output_folder_that_cannot_be_made(evalcore, suite, tmp_path):
    (tmp_path / "script").write_text('{"text": "Hello!"}\n')
    one_sentence(evalcore("run", suite, "--backend", "scripted", "--script", "script", "--out", "/proc/nope"), 2,
                 "/proc/nope", "--out")


def test_a_key_never_shows(evalcore, suite):
    done = evalcore("run", suite, "--backend", "openai-url", "--base-url", "http://user:SENTINEL@127.0.0.1:9")
    assert done.returncode == 2
    assert "SENTINEL" not in done.stderr + done.stdout
    done = evalcore("run", suite, "--backend", "openai-url", "--base-url", "http://127.0.0.1:9", "--api-key-env",
                    "THE_KEY", env={**os.environ, "THE_KEY": "SENTINEL\r\nX: y"})
    assert done.returncode in (2, 3)
    assert "SENTINEL" not in done.stderr + done.stdout


def test_control_characters_of_a_suite_or_a_server_are_shown_not_obeyed(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(json.dumps({"id": "\x1b[31mred\x07\u202e", "prompt": "x", "target": "y"}) + "\n")
    (tmp_path / "helper").write_text(json.dumps({"error": {"code": "overloaded", "message": "\x1b[2Jgone\n\x9b"}}) + "\n")
    done = evalcore("run", "suite.jsonl", "--backend", "scripted", "--script", "helper", "--task", "\x1b[1mt")
    assert done.returncode == 4
    planned = evalcore("plan", "suite.jsonl")
    for text in (done.stderr, done.stdout, planned.stdout):
        assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "\\x1b[31mred\\x07" in done.stderr


@pytest.mark.parametrize("command", [["backends"], ["plan", "suite.jsonl", "--json"],
                                     ["run", "suite.jsonl", "--backend", "scripted", "--script", "helper", "--json"]])
def test_lost_output_is_no_success(program, suite, tmp_path, command):
    (tmp_path / "helper").write_text('{"text": "Hello!"}\n')
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, *command], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert "standard output" in done.stderr


def test_two_files_of_one_task_do_not_share_a_folder(evalcore, tmp_path):
    (tmp_path / "helper").write_text('{"text": "Hello!"}\n')
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text(GOOD)
        assert evalcore("run", name, "--backend", "scripted", "--script", "helper", "--task", "../same").returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one", "two"]
