"""scripts/eval-throughput-smoke.sh: what it measures, what it writes, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import MODEL, REPOSITORY, free_port, summary

sys.path.append(str(REPOSITORY / "scripts"))
from throughput_report import may_change  # noqa: E402

# What upstream's smoke writes, whose readers must find it here.
UPSTREAM_KEYS = {"backend", "requests", "concurrency", "delay_ms", "sequential_seconds", "concurrent_seconds", "speedup",
                 "passed", "min_speedup", "note"}  # fmt: skip
SYSTEM = "You answer briefly, in plain words, and you never say more than you were asked for. " * 4
ITEMS = 8


@pytest.fixture
def smoke(program, tmp_path):
    """Runs the script in a folder of its own; returns the finished process, and the report where there is one."""

    def run(*arguments, further=(), **environment):
        path = tmp_path / "report.json"
        command = [REPOSITORY / "scripts/eval-throughput-smoke.sh", "--out", tmp_path / "out", "--json", path]
        done = subprocess.run(
            [*map(str, command), *map(str, arguments), "--", *map(str, further)],
            check=False, cwd=tmp_path, text=True, capture_output=True, timeout=120,
            env={**os.environ, **environment},
        )  # fmt: skip
        return done, json.loads(path.read_text()) if path.exists() else None

    return run


@pytest.fixture
def suite(write_suite):
    return write_suite("suite.jsonl", [
        {"id": f"q{number}", "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"number {number}"}],
         "target": "x", "params": {"temperature": 0, "max_tokens": 8}}
        for number in range(ITEMS)])  # fmt: skip


def test_the_mock_shows_that_requests_overlap_and_no_tokens(smoke):
    # Sleeps that are long beside what a busy machine adds to them.
    done, report = smoke("--mock", "--delay-ms", 400, "--requests", 16, "--min-speedup", 2)
    assert done.returncode == 0, done.stderr
    assert UPSTREAM_KEYS <= report.keys()
    assert (report["backend"], report["requests"], report["concurrency"], report["delay_ms"]) == (
        "threaded-openai-mock", 16, 8, 400)  # fmt: skip
    # One after the other, and in two rounds of eight.
    assert report["sequential_seconds"] >= 16 * 0.4
    assert report["concurrent_seconds"] >= 2 * 0.4
    assert report["speedup"] == pytest.approx(report["sequential_seconds"] / report["concurrent_seconds"], rel=0.01)
    assert report["speedup"] >= 2 and report["passed"]
    assert report["outputs_equal"] == 16 and report["concurrent"]["score"] == 1
    assert report["concurrent"]["prompt_tokens"] is None and report["prefix_cached_tokens"] is None
    assert "SMOKE OK" in done.stdout.splitlines()[-1]


def test_below_the_bar_it_ends_with_1(smoke):
    # Eight at a time cannot be more than about eight times as fast.
    done, report = smoke("--mock", "--requests", 8, "--delay-ms", 20, "--min-speedup", 1000)
    assert done.returncode == 1, done.stderr
    assert not report["passed"] and report["min_speedup"] == 1000 and report["delay_ms"] == 20
    assert "SMOKE FAILED" in done.stdout.splitlines()[-1]


def test_the_model_in_the_process_computes_the_prefix_once_and_changes_no_answer(smoke, suite, tmp_path):
    done, report = smoke("--model", MODEL, "--suite", suite, "--concurrency", 4, "--context-per-slot", 1024, "--min-speedup", 0.001)
    assert done.returncode == 0, done.stderr
    sequential, concurrent = report["sequential"], report["concurrent"]
    assert report["backend"] == "embedded" and report["requests"] == ITEMS
    # Were it true, an answer that changed would pass.
    assert may_change(summary(tmp_path / "out/sequential"), summary(tmp_path / "out/concurrent")) is False
    assert report["outputs_equal"] == ITEMS and sequential["score"] == concurrent["score"]
    assert sequential["cached_tokens"] == 0
    assert concurrent["cached_tokens"] == report["prefix_cached_tokens"] == report["prefix_predicted_tokens"] > 0
    assert concurrent["cached_tokens"] % (64 * (ITEMS - 1)) == 0  # All but the first, on the grid.
    assert concurrent["prompt_tokens"] == sequential["fed_tokens"] == concurrent["fed_tokens"] + concurrent["cached_tokens"]
    assert concurrent["median_ttft_s"] > 0
    assert f"prefix cached: {report['prefix_cached_tokens']} tokens of {report['prefix_cached_tokens']} predicted" in done.stdout


def test_a_real_server_is_named_and_its_cache_is_seen(smoke, suite, server_port):
    done, report = smoke("--base-url", f"http://127.0.0.1:{server_port}", "--suite", suite, "--concurrency", 4, "--min-speedup", 0.001,
                         further=["--dialect", "llama-server"])  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (report["backend"], report["concurrent"]["dialect"]) == ("openai-url", "llama-server")
    assert report["sequential"]["cached_tokens"] == 0 < report["concurrent"]["cached_tokens"]
    assert report["delay_ms"] is None


def test_two_backends_are_compared_and_may_answer_differently(smoke, suite, server_port):
    done, report = smoke("--model", MODEL, "--suite", suite, "--requests", 3, "--context-per-slot", 1024, "--min-speedup", 0.001,
                         "--sequential", f"--backend openai-url --base-url http://127.0.0.1:{server_port} --dialect llama-server")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (report["sequential"]["selector"], report["backend"], report["requests"]) == ("openai-url", "embedded", 3)
    assert not report["outputs_changed_where_none_may"]


def test_a_server_that_is_not_there_ends_with_2_and_says_what_to_do(smoke, suite):
    url = f"http://127.0.0.1:{free_port()}"
    done, report = smoke("--base-url", url, "--suite", suite)
    assert (done.returncode, report) == (2, None)
    assert url in done.stderr and "see that the server runs there" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_request_without_an_answer_is_no_measurement(smoke, write_suite, server_port):
    suite = write_suite("long.jsonl", [{"id": "i", "prompt": "number " * 4000, "target": "x", "params": {"temperature": 0, "max_tokens": 4}}])
    done, report = smoke("--base-url", f"http://127.0.0.1:{server_port}", "--suite", suite)
    assert (done.returncode, report) == (2, None)
    assert "not answered" in done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["--mock", "--base-url", "http://127.0.0.1:1"], "--mock is its own backend"),
    (["--delay-ms", 5], "--delay-ms is an option of --mock"),
    (["--mock", "--requests", 0], "--requests must be above 0"),
    (["--suite", "missing.jsonl"], "there is no suite missing.jsonl"),
    (["--backend", "embedded", "--base-url", "http://127.0.0.1:1"], "leave one out"),
    (["--backend", "nobody", "--model", "m"], "there is no backend \"nobody\""),
    (["--mock", "--json", "missing/report.json"], "there is no folder missing"),
    (["--speed", 3], "unrecognized arguments"),
    (["--sequential", "'x"], "--sequential: No closing quotation"),
])  # fmt: skip
def test_what_is_wrong_is_named_and_ends_with_2(smoke, suite, arguments, words):
    given = arguments if "--mock" in arguments or "--suite" in arguments else [*arguments, "--suite", suite]
    done, _ = smoke(*given)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_set_up_that_fails_ends_with_2_and_not_like_a_missed_bar(smoke):
    done, report = smoke("--mock", EVALCORE_CACHE="/dev/null/cache")
    assert (done.returncode, report) == (2, None)
    assert "cannot create directory" in done.stderr


def test_a_program_that_leaves_no_run_ends_with_2(smoke):
    done, report = smoke("--mock", EVALCORE_PROGRAM="true")
    assert (done.returncode, report) == (2, None)
    assert "left no summary" in done.stderr and "Traceback" not in done.stderr


def test_a_report_that_cannot_be_printed_ends_with_2(program, tmp_path):
    command = [REPOSITORY / "scripts/eval-throughput-smoke.sh", "--mock", "--requests", 2, "--min-speedup", 0.001,
               "--out", tmp_path]  # fmt: skip
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            list(map(str, command)), check=False, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert done.returncode == 2, done.stderr
    assert "the report could not be printed: No space left" in done.stderr and "Traceback" not in done.stderr


def test_without_the_set_up_it_runs_on_a_program_that_is_named(program, tmp_path):
    command = [sys.executable, REPOSITORY / "scripts/throughput_smoke.py", "--mock", "--requests", 4, "--min-speedup", 0.001,
               "--out", tmp_path]  # fmt: skip
    done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, timeout=120, cwd=tmp_path,
                          env={"PATH": os.environ["PATH"], "EVALCORE_PROGRAM": os.path.abspath(program)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "SMOKE OK" in done.stdout


def test_a_report_of_an_earlier_time_does_not_stay_where_nothing_was_measured(smoke, suite, tmp_path):
    (tmp_path / "report.json").write_text("{}")
    done, report = smoke("--base-url", f"http://127.0.0.1:{free_port()}", "--suite", suite)
    assert (done.returncode, report) == (2, None)


@pytest.mark.parametrize("how, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_its_runs_without_a_report(program, tmp_path, how, status):
    command = [REPOSITORY / "scripts/eval-throughput-smoke.sh", "--mock", "--requests", 1000, "--delay-ms", 1000, "--out", tmp_path]
    log = tmp_path / "log"
    with open(log, "wb") as output:
        process = subprocess.Popen(list(map(str, command)), stderr=output, stdout=output, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "sequential/run.db").exists():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, "the sequential run did not begin within 60 s"
        time.sleep(0.05)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # As a terminal does.
    else:
        process.send_signal(how)
    assert process.wait(timeout=30) == status
    assert "Traceback" not in log.read_text() and "SMOKE" not in log.read_text()
    assert not [line for line in subprocess.check_output(["ps", "-eo", "args"], text=True).splitlines()
                if f"--out {tmp_path}/sequential" in line]  # fmt: skip


def test_help_ends_with_0_and_names_the_exit_statuses(smoke):
    done, _ = smoke("--help")
    assert done.returncode == 0
    assert "exit status" in done.stdout and "--min-speedup" in done.stdout
