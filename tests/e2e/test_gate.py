"""`evalcore gate` passes what is shown to be no worse, and its exit status tells fail from inconclusive and from
errors; `--compat` behaves as the harness's eval-gate."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from graded_runs import run_graded, suite_lines

PASS, FAIL, USAGE, INCONCLUSIVE = 0, 1, 2, 5


def result(tmp_path, name="gate-result.json"):
    return json.loads((tmp_path / name).read_text())


@pytest.fixture
def runs(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(150))
    run_graded(evalcore, tmp_path, "base", "r" * 100 + "w" * 50)
    run_graded(evalcore, tmp_path, "same", "r" * 100 + "w" * 50)
    run_graded(evalcore, tmp_path, "worse", "r" * 60 + "w" * 90)
    run_graded(evalcore, tmp_path, "broken", "r" * 90 + "e" * 10 + "w" * 50)


def test_the_exit_status_tells_pass_fail_and_inconclusive(evalcore, runs, tmp_path):
    # sqrt(n m / (1 - m)) > 1.645: of 150 equal items, margins from 0.0178 on.
    for candidate, margin, status, verdict in [
        ("same", "0.02", PASS, "pass"),
        ("same", "0.01", INCONCLUSIVE, "inconclusive"),
        ("worse", "0.1", FAIL, "fail"),
        ("broken", "0.02", FAIL, "fail"),
    ]:
        done = evalcore("gate", candidate, "base", "--margin", margin)
        assert (done.returncode, done.stderr) == (status, ""), done.stdout
        assert result(tmp_path)["verdict"] == verdict
        assert done.stdout.splitlines()[-1].startswith(f"{verdict}: ")


def test_missing_items_count_against_the_candidate_and_are_told(evalcore, runs, tmp_path):
    done = evalcore("gate", "broken", "base", "--margin", "0.02", "--json", "--out", "r.json")
    (suite,) = json.loads(done.stdout)["suites"]
    assert result(tmp_path, "r.json") == json.loads(done.stdout)
    assert (suite["items"], suite["missing"]) == (150, 10)
    assert suite["paired"]["difference"] == 0
    assert suite["missing_worst"]["difference"] == pytest.approx(-10 / 150)
    assert suite["shown"] == suite["missing_worst"]["shown"] == "inferior"
    assert "10 missing items" in evalcore("gate", "broken", "base").stdout


def test_several_suites_pass_together(evalcore, runs, tmp_path):
    done = evalcore("gate", "same", "base", "worse", "base", "--margin", "0.1")
    assert done.returncode == FAIL
    shown = [suite["shown"] for suite in result(tmp_path)["suites"]]
    assert shown == ["non_inferior", "inferior"]
    assert evalcore("gate", "same", "base", "same", "base", "--margin", "0.05").returncode == PASS


def test_what_is_no_pair_of_runs_is_refused(evalcore, runs, tmp_path):
    pair = ["same", "base"]
    for arguments in (["same"], [], ["same", "absent"], [*pair, "--margin", "0"], [*pair, "--spec", "x"]):
        done = evalcore("gate", *arguments)
        assert (done.returncode, done.stdout) == (USAGE, ""), arguments
        assert done.stderr.startswith("evalcore: ")
    assert not (tmp_path / "gate-result.json").exists()


def row(task, score, metric="accuracy"):
    return json.dumps({"task": task, "metric": metric, "score": score, "n_examples": 10, "subtask": None}) + "\n"


@pytest.fixture
def compat(evalcore, tmp_path):
    (tmp_path / "base.jsonl").write_text(row("bfcl", 0.8) + "garbage\n" + row("tau", 0.55))
    (tmp_path / "eval-gate.json").write_text(
        json.dumps(
            {"baseline": "base.jsonl", "suites": [{"name": "bfcl"}, {"name": "t", "task": "tau", "threshold": 3}]}
        )
    )

    def gate(candidate, *arguments):
        (tmp_path / "candidate.jsonl").write_text(candidate)
        return evalcore("gate", "--compat", "--candidate", "candidate.jsonl", *arguments)

    return gate


def test_compat_a_loss_beyond_the_threshold_fails(compat, tmp_path):
    assert compat(row("bfcl", 0.79) + row("tau", 0.53)).returncode == PASS
    done = compat(row("bfcl", 0.74) + row("tau", 0.55) + row("other", 0))
    assert done.returncode == FAIL
    found = result(tmp_path)
    assert (found["passed"], found["failedCount"], found["missingCount"]) == (False, 1, 0)
    assert [(one["name"], one["verdict"]) for one in found["suites"]] == [("bfcl", "fail"), ("t", "pass")]
    assert compat(row("bfcl", 0.74), "--threshold", "10").returncode == PASS


def test_compat_repeated_rows_are_averaged_with_their_statistics(compat, tmp_path):
    (tmp_path / "budget.json").write_text('{"max_steps": 8, "sampling_seed": 17, "infra_patches": []}')
    rows = "".join(row("bfcl", score) for score in (0.7, 0.8, 0.9))
    assert compat(rows, "--passes", "3", "--budget", "budget.json").returncode == PASS
    found = result(tmp_path)
    stats = found["suites"][0]["candidateStats"]
    assert (stats["n"], stats["trialScores"]) == (3, [0.7, 0.8, 0.9])
    assert (stats["mean"], stats["stdev"]) == (pytest.approx(0.8), pytest.approx(0.1))
    assert found["protocol"] == {"passes": 3, "budget": {"max_steps": 8, "sampling_seed": 17, "infra_patches": []}}


def test_compat_commands_give_the_candidate_and_their_failure_is_the_gates(evalcore, compat, tmp_path):
    (tmp_path / "emit.py").write_text(
        "import json, os, sys\n"
        "out = os.environ['TINYGPT_EVAL_OUT']\n"
        "assert sys.argv[1:] == ['--out=' + out, out], sys.argv\n"
        "assert os.environ['TINYGPT_EVAL_PASSES'] == '2' and os.environ['TINYGPT_EVAL_BUDGET'] == 'budget.json'\n"
        "open(out, 'a').write(json.dumps({'task': 'bfcl', 'metric': 'accuracy', 'score': 0.8}) + chr(10))\n"
    )
    (tmp_path / "budget.json").write_text('{"infra_patches": []}')
    command = [sys.executable, "emit.py", "--out=${TINYGPT_EVAL_OUT}", "$TINYGPT_EVAL_OUT"]
    spec = {"baseline": "base.jsonl", "suites": [{"name": "bfcl", "command": command}]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    how = ["gate", "--compat", "--spec", "spec.json", "--passes", "2", "--budget", "budget.json"]
    done = evalcore(*how)
    assert done.returncode == PASS, done.stderr
    assert result(tmp_path)["suites"][0]["candidateStats"]["n"] == 2
    spec["suites"][0]["command"] = [sys.executable, "-c", "raise SystemExit(7)"]
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    assert evalcore(*how).returncode == 7
    spec["suites"][0]["command"] = ["./no-such-program"]
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    assert evalcore(*how).returncode == 127


def test_compat_without_a_folder_for_temporary_files_no_command_runs_and_no_file_is_left(evalcore, compat, tmp_path):
    spec = {"baseline": "base.jsonl", "suites": [{"name": "bfcl", "command": ["touch", "ran"]}]}
    (tmp_path / "eval-gate.json").write_text(json.dumps(spec))
    before = sorted(tmp_path.iterdir())
    done = evalcore("gate", "--compat", env={**os.environ, "TMPDIR": "/dev/null"})
    assert done.returncode == USAGE
    assert "in the folder of temporary files; TMPDIR names another" in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_compat_rows_that_a_command_removed_are_no_pass_and_no_baseline(evalcore, compat, tmp_path):
    remove = [sys.executable, "-c", "import os; os.unlink(os.environ['TINYGPT_EVAL_OUT'])"]
    spec = {"baseline": "base.jsonl", "suites": [{"name": "bfcl", "command": remove}]}
    (tmp_path / "eval-gate.json").write_text(json.dumps(spec))
    baseline = (tmp_path / "base.jsonl").read_text()
    for how in ([], ["--update-baseline"]):
        done = evalcore("gate", "--compat", *how)
        assert (done.returncode, done.stdout) == (USAGE, "")
        assert "cannot read the commands' rows" in done.stderr
    assert (tmp_path / "base.jsonl").read_text() == baseline
    assert not (tmp_path / "gate-result.json").exists()


def test_compat_what_commands_print_is_no_part_of_the_json(evalcore, compat, tmp_path):
    (tmp_path / "emit.py").write_text(
        "import json, os\n"
        "print('12 of 15 right')\n"
        "row = {'task': 'bfcl', 'metric': 'accuracy', 'score': 0.8}\n"
        "open(os.environ['TINYGPT_EVAL_OUT'], 'a').write(json.dumps(row) + chr(10))\n"
    )
    spec = {"baseline": "base.jsonl", "suites": [{"name": "bfcl", "command": [sys.executable, "emit.py"]}]}
    (tmp_path / "eval-gate.json").write_text(json.dumps(spec))
    done = evalcore("gate", "--compat", "--json")
    assert json.loads(done.stdout) == result(tmp_path)
    assert done.stderr == "12 of 15 right\n"
    assert evalcore("gate", "--compat").stdout.startswith("12 of 15 right\n")


def test_compat_an_interrupt_ends_the_command_that_runs(program, compat, tmp_path):
    (tmp_path / "wait.py").write_text(
        "import os, time\nopen('pid.part', 'w').write(str(os.getpid()))\nos.rename('pid.part', 'pid')\ntime.sleep(60)\n"
    )
    spec = {"baseline": "base.jsonl", "suites": [{"name": "bfcl", "command": [sys.executable, "wait.py"]}]}
    (tmp_path / "eval-gate.json").write_text(json.dumps(spec))
    with subprocess.Popen([program, "gate", "--compat"], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as gate:
        deadline = time.monotonic() + 30
        while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        gate.send_signal(signal.SIGTERM)
        assert gate.wait(timeout=20) == 130, gate.stderr.read()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert not (tmp_path / "gate-result.json").exists()


def test_compat_the_baseline_is_stamped_anew_to_the_byte(compat, tmp_path):
    regressed = row("bfcl", 0.5) + "not a row\n"
    assert compat(regressed, "--update-baseline").returncode == PASS
    assert (tmp_path / "base.jsonl").read_text() == regressed
    assert compat(regressed).returncode == PASS
    assert compat(regressed, "--update-baseline", "--baseline", "absent/base.jsonl").returncode == FAIL


def test_compat_an_empty_file_has_no_rows(evalcore, compat, tmp_path):
    assert compat("").returncode == PASS
    assert result(tmp_path)["suites"] == []
    (tmp_path / "base.jsonl").write_text("")
    assert compat(row("bfcl", 0.8)).returncode == PASS
    assert result(tmp_path)["missingCount"] == 1
    (tmp_path / "eval-gate.json").write_text("")
    done = compat(row("bfcl", 0.8))
    assert (done.returncode, "is not JSON" in done.stderr) == (USAGE, True)
    done = compat(row("bfcl", 0.8), "--spec", ".")
    assert (done.returncode, "cannot read the spec ." in done.stderr) == (USAGE, True)


def test_compat_what_cannot_be_read_is_a_usage_error(evalcore, compat, tmp_path):
    good = row("bfcl", 0.8)
    for arguments in (["--spec", "absent.json"], ["--baseline", "absent.jsonl"], ["--budget", "absent.json"],
                      ["--spec", "base.jsonl"], ["--budget", "base.jsonl"]):  # fmt: skip
        assert compat(good, *arguments).returncode == USAGE, arguments
    assert evalcore("gate", "--compat", "--candidate", "absent.jsonl").returncode == USAGE
    assert evalcore("gate", "--compat").returncode == USAGE, "a suite has no command"
    assert compat(good, "--margin", "0.1").returncode == USAGE, "that would be ignored"
    (tmp_path / "eval-gate.json").unlink()
    assert compat(good).returncode == USAGE, "there is no spec"
    (tmp_path / "posttrainllm.project.json").write_text(
        json.dumps({"name": "p", "eval": {"baseline": "base.jsonl", "suites": []}})
    )
    assert compat(good).returncode == PASS


def test_power_says_how_many_items_a_gate_needs(evalcore):
    done = evalcore("power", "--margin", "0.02", "--differing", "0.1", "--items", "1000", "--looks", "2", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # (1.645 + 0.842)² · 0.1 / 0.02² by the normal distribution.
    assert found["items_needed"] == pytest.approx(1546, rel=0.002)
    assert 0.6 < found["power_of_items"] < 0.7
    assert found["looks"][1]["alpha_spent"] == pytest.approx(0.05)
    assert found["looks"][0]["p"] == pytest.approx(found["looks"][0]["alpha_spent"])
    assert "items for a power of 0.8: 15" in evalcore("power").stdout
    assert evalcore("power", "--difference", "0.2").returncode == USAGE
