"""Runs whose items are right, wrong or errored as a test says, on the scripted backend."""

import json


def suite_lines(count, categories=None):
    lines = []
    for n in range(count):
        line = {"id": f"i{n:03}", "prompt": f"ask i{n:03}.", "target": "yes"}
        if categories:
            line["category"] = categories[n % len(categories)]
        lines.append(json.dumps(line) + "\n")
    return "".join(lines)


def run_graded(evalcore, tmp_path, name, grades, *arguments, suite="suite.jsonl", prices=False):
    """grades: a letter for each item: r right, w wrong, e errored."""
    replies = []
    for n, grade in enumerate(grades):
        line = {"match": f"ask i{n:03}."}
        if grade == "e":
            line["error"] = {"code": "backend_fault", "message": "broke"}
        else:
            line |= {"text": "yes" if grade == "r" else "no", "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
        replies.append(json.dumps(line) + "\n")
    script = tmp_path / f"{name}.script"
    script.write_text("".join(replies))
    if prices:
        (tmp_path / "prices.json").write_text('{"usd_per_million_tokens": [{"model": "*", "input": 1, "output": 2}]}')
        arguments = (*arguments, "--price", "prices.json")
    done = evalcore("run", suite, "-b", "scripted", "--script", script.name, "--retries", "0", "--out", name,
                    "--model-name", name, *arguments)  # fmt: skip
    assert done.returncode == (4 if "e" in grades else 0), done.stderr
    return done
