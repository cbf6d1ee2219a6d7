#!/usr/bin/env python3
"""Runs a fixed suite twice and tells how much faster the second time was.

sequential: one request at a time in the suite's order, and nothing kept of the one before where the backend can be
            told so: the way of a harness in front of a server that serves one at a time.
concurrent: as evalcore does it by itself: planned by what the requests share, many in flight.

By default both are this process's own engine on SmolLM2-135M-Instruct, and the suite is that of scripts/demo:
16 BFCL items with 936 tokens in common. It takes some minutes.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys

from run_results import replies, summary_of
from sleeping_mock import sleeping_mock
from throughput_report import print_report, report_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
EPILOG = """
examples:
  scripts/eval-throughput-smoke.sh --json smoke.json
  scripts/eval-throughput-smoke.sh --base-url http://127.0.0.1:8080 --concurrency 4 -- --dialect llama-server
  scripts/eval-throughput-smoke.sh --backend omlx --model ~/models/M --sequential '--backend posttrainllm --model M.bin'
  scripts/eval-throughput-smoke.sh --mock

A server at a URL still holds what the sequential run, which goes first, left in its cache.

What is set up is for Debian. Elsewhere scripts/throughput_smoke.py takes the same options by itself: EVALCORE_PROGRAM names
the command, --model the model, and --suite the suite, or EVALCORE_BFCL the folder of BFCL's v4 files.

exit status: 0 the bar was met; 1 it was missed, or answers changed where none may (one engine in evaluation `parity`,
the mock); 2 nothing was measured or no report could be written, and a line says why; 130 interrupted.
"""


class Failure(Exception):
    """Nothing was measured. Its text says why, and what to do."""


def parser():
    made = argparse.ArgumentParser(
        prog="eval-throughput-smoke.sh",
        usage="%(prog)s [OPTION…] [-- OPTION OF evalcore run…]",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--backend", help="who answers, as in `evalcore backends` [embedded; with --base-url openai-url]")
    made.add_argument("--base-url", help="of a server that is running")
    made.add_argument(
        "--model", help="a file, a folder, or a name at the server [SmolLM2-135M-Instruct; of a URL its own]"
    )
    made.add_argument("--sequential", metavar="OPTIONS", help="another backend for the sequential run: its options of "
                      "`evalcore run`, in one word [the same backend]")  # fmt: skip
    made.add_argument(
        "--mock", action="store_true", help="no model: a server that sleeps. Shows nothing but that requests overlap"
    )
    made.add_argument("--delay-ms", type=float, help="of --mock: how long it sleeps [80]")
    made.add_argument("--suite", type=pathlib.Path, help="another suite (docs/suite.md)")
    made.add_argument("--requests", type=int, help="so many of the suite [all; with --mock 24]")
    made.add_argument("--concurrency", type=int, help="in flight in the concurrent run [16; with --mock 8]")
    made.add_argument("--context-per-slot", type=int, help="tokens, where evalcore runs the model or its server [2048]")
    made.add_argument("--min-speedup", type=float, default=3.0, help="the bar, in times of the sequential time [3.0]")
    made.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures there")
    made.add_argument(
        "--out", type=pathlib.Path, default=ROOT / "out/smoke", help="folder for the two runs [out/smoke]"
    )
    made.add_argument("--list-needs", action="store_true", help=argparse.SUPPRESS)
    return made


def options_from(words):
    """What was asked, checked and filled in. Exits with 2 and a line for what makes no sense."""
    arguments = parser()
    words, further = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    asked = arguments.parse_args(words)
    asked.further = further
    try:
        asked.sequential = shlex.split(asked.sequential or "")
    except ValueError as error:
        arguments.error(f"--sequential: {error}")
    if asked.mock and (asked.backend or asked.base_url or asked.model or asked.sequential or asked.suite or further):
        arguments.error("--mock is its own backend and suite: leave --backend, --base-url, --model, --sequential, --suite "
                        "and what follows -- out")  # fmt: skip
    if asked.delay_ms is not None and not asked.mock:
        arguments.error("--delay-ms is an option of --mock; no other server can be told how long to take")
    for name in ("requests", "concurrency", "context_per_slot", "delay_ms", "min_speedup"):
        value = getattr(asked, name)
        if value is not None and not value > 0:
            arguments.error(f"--{name.replace('_', '-')} must be above 0")
    if asked.suite and not asked.suite.exists():
        arguments.error(f"there is no suite {asked.suite}")
    if asked.json and not asked.json.parent.is_dir():
        arguments.error(f"there is no folder {asked.json.parent} for --json")
    asked.backend = asked.backend or ("openai-url" if asked.base_url or asked.mock else "embedded")
    asked.local = asked.backend not in ("openai-url", "anthropic-url")
    if asked.base_url and asked.local:
        arguments.error(
            f"--base-url names a server that is running, and {asked.backend} is run by evalcore: leave one out"
        )
    asked.delay_ms = (asked.delay_ms or 80) if asked.mock else None
    asked.requests = asked.requests or (24 if asked.mock else None)
    asked.concurrency = asked.concurrency or (8 if asked.mock else 16)
    return asked


# Where what is needed stands.
VARIABLES = {"evalcore": "EVALCORE_PROGRAM", "model": "EVALCORE_MODEL", "bfcl_data": "EVALCORE_BFCL"}


def needs(asked):
    """What must be set up before: names of need_… in lib.sh."""
    program = [] if os.environ.get("EVALCORE_PROGRAM") else ["evalcore"]
    if asked.mock:
        return program
    in_process = any("embedded" in word for word in [asked.backend, *asked.sequential])
    return (
        (["model"] if asked.local and not asked.model else [])
        + ([] if asked.suite else ["bfcl_data"])
        + (["llama_library"] if program and in_process else [])
        + program
    )


def backend_options(asked, url):
    options = ["--backend", asked.backend]
    if url:
        options += ["--base-url", url]
    model = asked.model or (os.environ["EVALCORE_MODEL"] if asked.local else None)
    if model:
        options += ["--model", model]
    return options + (["--no-stream"] if asked.mock else []) + asked.further


def slots(asked, options, count):
    """The options that bound what is in flight; a URL's server has the slots that it has."""
    local = not any(word.startswith("--base-url") for word in options)
    context = ["--slots", count, "--context-per-slot", asked.context_per_slot or 2048] if local else []
    return ["--concurrency", count, *context]


def mock_item(number):
    text = f"request {number}"
    return {"id": f"r{number}", "prompt": text, "target": text, "params": {"temperature": 0}}


def write_suite(asked):
    """The suite's path."""
    if asked.suite:
        return asked.suite
    path = asked.out / "suite.jsonl"
    if asked.mock:
        lines = (mock_item(n) for n in range(asked.requests))
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path
    made = [sys.executable, ROOT / "scripts/make_demo_suite.py", os.environ["EVALCORE_BFCL"], path]
    if subprocess.run(made, check=False, stdout=subprocess.DEVNULL).returncode != 0:
        raise Failure("the demo's suite could not be written; what is wrong stands above")
    return path


MENDS = {
    3: "the backend is not available: see that the server runs there, or name another with --backend and --base-url",
    4: "some requests were not answered, and a time without them compares nothing: see what the backend said above, and run "
       "this again",
}  # fmt: skip


def run(asked, name, suite, options):
    """The summary and the replies of one run."""
    folder = asked.out / name
    shutil.rmtree(folder, ignore_errors=True)
    limit = ["--limit", asked.requests] if asked.requests else []
    program = os.environ["EVALCORE_PROGRAM"]
    command = [program, "run", suite, "--task", "throughput-smoke", "--out", folder, *limit, *options]
    print(f"==> {name}", file=sys.stderr)
    try:
        status = subprocess.run(list(map(str, command)), check=False, stdout=subprocess.DEVNULL).returncode
    except OSError as error:
        raise Failure(f"{program} does not run: {error.strerror}; mend EVALCORE_PROGRAM, or leave it unset") from error
    if status != 0:
        mend = MENDS.get(status, "the line above says what is wrong; `evalcore run --help` has its options")
        raise Failure(f"the {name} run ended with status {status}: {mend}")
    summary = summary_of(folder)
    if summary is None:
        raise Failure(f"the {name} run left no summary: EVALCORE_PROGRAM ({program}) is no evalcore; leave it unset")
    if not summary["sent"]:
        raise Failure(f"{suite} has no item: name a suite that has some")
    return summary, replies(folder / "run.db")


def measure(asked):
    missing = [VARIABLES[need] for need in needs(asked) if need in VARIABLES and not os.environ.get(VARIABLES[need])]
    if missing:
        raise Failure(f"{' and '.join(missing)} not set: start scripts/eval-throughput-smoke.sh, which sees to that on Debian, or "
                      "set EVALCORE_PROGRAM and name --model and --suite")  # fmt: skip
    asked.out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(sleeping_mock(asked.delay_ms / 1000)) if asked.mock else asked.base_url
        suite = write_suite(asked)
        many = backend_options(asked, url)
        one = asked.sequential or many
        alone = ["--order", "suite", "--no-prompt-cache", *slots(asked, one, 1)]
        try:
            sequential = run(asked, "sequential", suite, [*one, *alone])
            concurrent = run(asked, "concurrent", suite, [*many, *slots(asked, many, asked.concurrency)])
            return report_of(asked, sequential, concurrent)
        except KeyError as unknown:
            raise Failure(
                f"its summary has no {unknown}: EVALCORE_PROGRAM is older than this script; leave it unset"
            ) from unknown


def tell(report):
    try:
        print_report(report)
        sys.stdout.flush()
    except OSError as error:
        # What could not be written would be tried again at exit, which then has a status of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Failure(f"the report could not be printed: {error.strerror}") from error


def smoke(asked):
    """The exit status of what was measured."""
    if asked.list_needs:
        print(*needs(asked))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that the run that is under way ends, too.
    if asked.json:
        asked.json.unlink(missing_ok=True)  # An old report is not taken for this one's.
    report = measure(asked)
    if asked.json:
        asked.json.write_text(json.dumps(report, indent=2) + "\n")
    tell(report)
    return 0 if report["passed"] else 1


def main():
    try:
        return smoke(options_from(sys.argv[1:]))
    except (Failure, OSError) as failure:
        print(f"eval-throughput-smoke: {failure}", file=sys.stderr)
    except KeyboardInterrupt:
        print("eval-throughput-smoke: interrupted; nothing was measured", file=sys.stderr)
        return 130
    except Exception as error:  # Python would end with 1, which says that the bar was missed.
        print(f"eval-throughput-smoke: {type(error).__name__}: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
