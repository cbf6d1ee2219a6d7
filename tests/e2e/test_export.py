"""`evalcore export` writes runs in the formats of other tools, and with --redact no byte of what was asked or answered."""

import csv
import io
import json
import xml.etree.ElementTree as xml

import pytest
from conftest import TOOLS, hi, rows, summary

from graded_runs import run_graded, suite_lines

FORMATS = ("rows", "lm-eval", "bfcl", "junit", "markdown", "csv")


def exported(evalcore, form, *runs):
    done = evalcore("export", *runs, "--format", form)
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(evalcore, tmp_path, form, *arguments):
    """All that an export writes, as bytes."""
    folder = tmp_path / f"written-{form}-{len(list(tmp_path.iterdir()))}"
    out = folder if form in ("lm-eval", "bfcl") else folder / "file"
    done = evalcore("export", *arguments, "--format", form, "-o", out)
    assert done.returncode == 0, done.stderr
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files and not [path for path in files if path.name.endswith(".partial")]
    return b"".join(path.read_bytes() for path in files)


def without_times(lines):
    return [{key: value for key, value in json.loads(line).items() if key not in ("timestamp", "wall_seconds", "run_id")}
            for line in lines.splitlines()]


def test_rows_are_those_that_the_run_wrote(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(6, ["easy", "hard"]))
    run_graded(evalcore, tmp_path, "a", "rrwwer")
    told = exported(evalcore, "rows", "a")
    assert without_times(told) == rows(tmp_path / "a")
    mine, theirs = [json.loads(one) for one in (told.splitlines()[0], (tmp_path / "a/rows.jsonl").read_text().splitlines()[0])]
    assert (mine["run_id"], mine["wall_seconds"]) == (theirs["run_id"], theirs["wall_seconds"])
    renamed = evalcore("export", "a", "--format", "rows", "--model-name", "other").stdout
    assert {json.loads(line)["model_name"] for line in renamed.splitlines()} == {"other"}


def test_junit_is_read_by_a_parser_of_xml(evalcore, tmp_path):
    lines = suite_lines(4, ["easy", "hard"])
    strange = {"id": "odd\x01 <&\"'>\ufffe", "prompt": "ask i004.", "target": "yes"}
    (tmp_path / "suite.jsonl").write_text(lines + json.dumps(strange) + "\n")
    run_graded(evalcore, tmp_path, "a", "rwerw")
    run_graded(evalcore, tmp_path, "b", "rrrrr")
    done = evalcore("export", "a", "b", "--format", "junit", "-o", "ci/junit.xml")
    assert (done.returncode, done.stdout) == (0, "")
    assert "evalcore: 1 of 10 items have no reply" in done.stderr
    first, second = xml.parse(tmp_path / "ci/junit.xml").getroot()
    assert {key: first.get(key) for key in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "suite", "tests": "5", "failures": "2", "errors": "1", "skipped": "0"}
    cases = first.findall("testcase")
    assert [case.get("classname") for case in cases] == ["suite.easy", "suite.hard", "suite.easy", "suite.hard", "suite"]
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["error"], [], ["failure"]]
    assert cases[4].get("name") == "odd\\x01 <&\"'>\ufffd"
    assert cases[1][0].get("message") == 'got "no", expected "yes"'
    assert cases[2][0].get("type") == "backend_fault"
    assert second.get("failures") == "0"


def test_unscored_items_are_skipped_in_junit(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(2))
    run_graded(evalcore, tmp_path, "a", "rw", "--scorer", "none")
    (suite,) = xml.fromstring(exported(evalcore, "junit", "a"))
    assert suite.get("skipped") == "2"
    assert [case[0].tag for case in suite.findall("testcase")] == ["skipped", "skipped"]


def test_csv_is_read_by_a_parser_of_csv(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(3))
    run_graded(evalcore, tmp_path, "a", "rwe")
    # Line ends as they stand.
    text = (written(evalcore, tmp_path, "csv", "a")).decode()
    assert text.count("\r\n") == 4
    told = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(one["id"], one["state"], one["value"], one["prompt"], one["reply"]) for one in told] == [
        ("i000", "scored", "1.0", "ask i000.", "yes"), ("i001", "scored", "0.0", "ask i001.", "no"),
        ("i002", "errored", "", "ask i002.", "")]
    assert (told[0]["prompt_tokens"], told[0]["completion_tokens"], told[0]["cached_tokens"]) == ("5", "2", "")
    assert told[2]["reason"] == "backend_fault"


def test_markdown_compares_runs_of_one_suite(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(20))
    (tmp_path / "other.jsonl").write_text(suite_lines(4))
    run_graded(evalcore, tmp_path, "a", "r" * 10 + "w" * 10)
    run_graded(evalcore, tmp_path, "b", "w" + "r" * 15 + "w" * 4)
    run_graded(evalcore, tmp_path, "c", "rrre", suite="other.jsonl")
    told = exported(evalcore, "markdown", "a", "b")
    assert "| A | suite | a |  | exact\\_match | 20 | 0.5000 | 0.2993 to 0.7007 | 0 |" in told  # Wilson's, Newcombe 1998.
    assert "| B against A |  | +0.2500 | " in told
    assert " | 20 | 6 | 1 | 0.1250 |" in told  # As compare tells it.
    run_graded(evalcore, tmp_path, "d", "r" * 20, "--scorer", "includes")
    assert "against" not in exported(evalcore, "markdown", "a", "d")
    apart = exported(evalcore, "markdown", "a", "c")
    assert "against" not in apart
    assert "| B | other | c |  | exact\\_match | 4 | 0.7500 | " in apart
    assert "B: 1 errored (backend_fault)" in apart


def test_nothing_that_was_asked_or_answered_is_left_after_redact(evalcore, tmp_path):
    """The words begin in a way of their own, so that one that is cut or escaped is found, too."""
    function = {"name": "qqfunction", "description": "qqdescription", "parameters": {"type": "dict", "properties": {
        "qqparameter": {"type": "string"}}, "required": []}}
    items = [
        {"id": "simple_python_0", "function": [function],
         "question": [[{"role": "system", "content": "qqsystem"}, {"role": "user", "content": "qquser one"}]]},
        {"id": "simple_python_1", "question": [[{"role": "user", "content": "qquser two"}]], "function": [function]},
        {"id": "simple_python_2", "question": [[{"role": "user", "content": "qquser three"}]], "function": [function]},
    ]
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "BFCL_v4_simple_python.json").write_text("".join(json.dumps(one) + "\n" for one in items))
    (tmp_path / "possible_answer/BFCL_v4_simple_python.json").write_text("".join(
        json.dumps({"id": one["id"], "ground_truth": [{"qqfunction": {"qqparameter": ["qqtarget"]}}]}) + "\n" for one in items))
    replies = [
        {"match": "one", "calls": [{"name": "qqfunction", "arguments": {"qqparameter": "qqargument"}}],
         "usage": {"prompt_tokens": 4321}},
        {"match": "two", "text": "<think>qqthought</think>qqreply"},
        {"match": "three", "error": {"code": "backend_fault", "message": "qqwords"}},
    ]
    (tmp_path / "script").write_text("".join(json.dumps(one) + "\n" for one in replies))
    evalcore("run", "BFCL_v4_simple_python.json", "-b", "scripted", "--script", "script", "--tools", "native", "--retries", "0",
             "--model-name", "m", "--out", "a", "--stop", "qqstop")  # fmt: skip
    for form in FORMATS:
        plain = written(evalcore, tmp_path, form, "a")
        hidden = written(evalcore, tmp_path, form, "a", "--redact")
        assert (b"qq" in plain) == (form not in ("rows", "markdown"))
        assert b"qq" not in hidden
    for form in ("lm-eval", "bfcl", "csv", "junit"):
        assert b"simple_python_1" in written(evalcore, tmp_path, form, "a", "--redact")
    for form in ("bfcl", "csv"):
        assert b"4321" in written(evalcore, tmp_path, form, "a", "--redact")


def test_what_cannot_be_written_is_refused_and_leaves_nothing(evalcore, tmp_path):
    (tmp_path / "suite.jsonl").write_text(suite_lines(8))
    run_graded(evalcore, tmp_path, "a", "rrwwrrww")
    run_graded(evalcore, tmp_path, "part", "rrwwrrww", "--shard", "1/2")
    for arguments, said in [
        (["a", "--format", "lm-eval"], "name the folder for them (-o FOLDER)"),
        (["a", "--format", "html"], "--format"),
        (["a", "a", "--format", "lm-eval", "-o", "out", "--model-name", ".."], "cannot be that of a folder"),
        (["a", "--format", "bfcl", "-o", "out"], "item i000 is of no category"),
        (["absent", "--format", "csv"], "there is no run file absent"),
        (["part", "--format", "csv"], "/run.db is part 1/2 of a run; `evalcore merge` puts the parts together first"),
        (["a", "--format", "csv", "-o", "suite.jsonl/file"], "cannot make the folder"),
    ]:
        done = evalcore("export", *arguments)
        assert done.returncode == 2, arguments
        assert said in done.stderr
    assert not (tmp_path / "out").exists()
    run_graded(evalcore, tmp_path, "short", "rrww", "--limit", "4")
    assert len(exported(evalcore, "csv", "short").splitlines()) == 5
    (tmp_path / "suite.jsonl").rename(tmp_path / "moved.jsonl")
    assert "--suite" in evalcore("export", "a", "--format", "csv").stderr
    assert evalcore("export", "a", "--format", "csv", "--suite", "moved.jsonl").returncode == 0


def test_runs_that_would_be_one_file_are_refused(evalcore, tmp_path):
    items = [{"id": f"irrelevance_{n}", "question": [[{"role": "user", "content": f"ask i00{n}."}]], "function": []}
             for n in range(2)]
    (tmp_path / "BFCL_v4_irrelevance.json").write_text("".join(json.dumps(one) + "\n" for one in items))
    for name in ("a", "b"):
        run_graded(evalcore, tmp_path, name, "rr", suite="BFCL_v4_irrelevance.json")
    assert evalcore("export", "a", "b", "--format", "bfcl", "-o", "both").returncode == 0
    assert len(list((tmp_path / "both").rglob("*_result.json"))) == 2
    for runs in (["a", "b", "--model-name", "same"], ["a", "a"]):
        done = evalcore("export", *runs, "--format", "bfcl", "-o", "out")
        assert done.returncode == 2
        assert "two of the runs would be written to result/" in done.stderr
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


@pytest.fixture
def real_run(evalcore, write_suite, canned):
    path = write_suite("real.jsonl", [hi(1), hi(2), {**hi(3), "target": "Bye", "tools": TOOLS}])
    done = evalcore("run", path, *canned, "--temperature", "0", "--max-tokens", "8", "--out", "real", "--model-name", "tiny")
    assert done.returncode == 0, done.stderr
    return "real"


def test_a_run_on_a_real_server_is_exported(evalcore, tmp_path, real_run):
    score = summary(tmp_path / real_run)["score"]
    told = list(csv.DictReader(io.StringIO(exported(evalcore, "csv", real_run), newline="")))
    assert sum(float(one["value"]) for one in told) / len(told) == pytest.approx(score)
    assert told[0]["reply"] == "Hello!"
    assert all(int(one["prompt_tokens"]) > 0 and float(one["total_s"]) >= float(one["first_token_s"]) > 0 for one in told)
    (suite,) = xml.fromstring(exported(evalcore, "junit", real_run))
    assert int(suite.get("failures")) == sum(float(one["value"]) < 1 for one in told)
    samples = written(evalcore, tmp_path, "lm-eval", real_run)
    assert samples.count(b'"exact_match":') == 3 + 1  # And once of what is better.
