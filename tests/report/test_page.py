"""What a report shows is what the run's own files say, and it needs nothing but itself."""

import contextlib
import json
import re
import sqlite3
import statistics

import pytest

from conftest import MODEL

SYSTEM = "".join(f"Rule {n}: what rule {n} says about refunds is what is done.\n" for n in range(30))


def shop_items(count):
    return [
        {"id": f"i{n:03}", "category": ["returns", "stock"][n % 2], "target": "yes",
         "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"ask i{n:03}. Is it so?"}]}
        for n in range(count)]  # fmt: skip


def shop_replies(grades):
    """grades: a letter for each item: r right, w wrong, e errored."""
    for n, grade in enumerate(grades):
        line = {"match": f"ask i{n:03}."}
        if grade == "e":
            yield line | {"error": {"code": "backend_fault", "message": f"broke at i{n:03}"}}
        else:
            yield line | {"text": "yes" if grade == "r" else f"no, not {n}", "first_token_ms": 10 + n, "delay_ms": 30 + 3 * n,
                          "usage": {"prompt_tokens": 100, "cached_tokens": 80, "completion_tokens": 5 + n}}  # fmt: skip


@pytest.fixture
def two_runs(runs):
    runs.suite(shop_items(60))
    runs.run("base", shop_replies("r" * 30 + "w" * 29 + "e"), "--concurrency", "8", code=4)
    runs.run("tuned", shop_replies("w" * 3 + "r" * 42 + "w" * 15), "--concurrency", "8")
    runs.report("base", "tuned")
    return runs.folder / "base/report.html"


def replies(folder):
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as database:
        return [json.loads(body) for (body,) in database.execute("SELECT body FROM replies")]


def cells(page, section, first):
    """The cells of the row of a section's tables that begins with a text."""
    return page.run(
        """const [section, first] = arguments;
        const row = [...document.querySelectorAll("#" + section + " tr")].find((one) => one.children[0].textContent === first);
        return [...row.children].slice(1).map((one) => one.textContent);""",
        section, first)  # fmt: skip


def test_it_opens_without_a_word_on_the_console_and_asks_for_nothing(two_runs, open_page):
    page = open_page(two_runs)
    page.open_item(0)
    page.choose("query", "i00")
    assert page.console() == []
    assert page.requests() == []
    text = two_runs.read_text()
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert "(c) 2022 Chart.js Contributors" in text and "Permission is hereby granted" in text


def test_every_plot_is_drawn_in_light_and_in_dark(two_runs, open_page):
    drawn = """return [...document.querySelectorAll("canvas")].map((canvas) => {
      const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return new Set(new Uint32Array(bytes.buffer)).size; });"""
    background = "return getComputedStyle(document.body).backgroundColor"
    page = open_page(two_runs)
    assert page.run(background) == "rgb(255, 255, 255)"
    assert len(page.run(drawn)) == 6
    assert min(page.run(drawn)) > 20  # Colours; an empty canvas has one.
    page = open_page(two_runs, dark=True)
    assert page.run(background) == "rgb(13, 17, 23)"
    assert min(page.run(drawn)) > 20
    assert page.console() == []


def test_without_the_chart_library_the_tables_say_the_same(two_runs, open_page, tmp_path):
    whole = two_runs.read_text()
    bare = re.sub(r"<script>\n/\*!\n \* Chart\.js.*?</script>", "", whole, flags=re.DOTALL)
    assert len(whole) - len(bare) > 150_000
    (tmp_path / "bare.html").write_text(bare)
    page = open_page(tmp_path / "bare.html")
    assert page.run("return document.querySelectorAll('canvas, figure').length") == 0
    assert page.text("#scores table") == open_page(two_runs).text("#scores table")
    assert page.console() == []


def test_it_fits_a_phone(two_runs, open_page, driver):
    driver.set_window_size(1280, 900)
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    )
    try:
        page = open_page(two_runs)
        assert page.run("return document.documentElement.scrollWidth") <= 360
        assert page.run("return document.documentElement.clientWidth") == 360
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_scores_and_intervals_are_those_of_the_summary(two_runs, open_page):
    page = open_page(two_runs)
    for name, letter in (("base", "A"), ("tuned", "B")):
        told = json.loads((two_runs.parents[1] / name / "summary.json").read_text())
        rows = page.run(
            "return [...document.querySelectorAll('#scores tbody tr')].map((row) => [...row.children].map((one) => one.textContent))"
        )
        for metric in told["metrics"]:
            low, high = metric["interval"]
            assert [letter, metric["category"], metric["metric"], f"{metric['score']:.4f}", f"{low:.4f} to {high:.4f}",
                    str(metric["items"])] in rows  # fmt: skip
    assert (
        "A: 0.5000 over all 60 items; 1 errored count as wrong, and if they were right it would be 0.5167"
        in page.text("#scores")
    )


def test_the_runs_are_compared_as_the_command_compares_them(two_runs, open_page, runs):
    page = open_page(two_runs)
    (between,) = json.loads(runs("compare", "base", "tuned", "--json").stdout)["comparisons"]
    paired = between["paired"]
    assert (paired["better"], paired["worse"]) == (15, 3)
    low, high = paired["interval"]
    assert cells(page, "comparison", "all") == [
        f"{paired['difference']:+.4f}", f"{low:.4f} to {high:.4f}", "59", "15", "3", f"{paired['mcnemar_p']:.4f}"]  # fmt: skip
    page.choose("verdict", "changed")
    assert page.items() == [item["id"] for item in between["changed"]]
    page.choose("verdict", "missing")
    assert page.items() == ["i059"]


def test_times_are_the_percentiles_of_the_stored_replies(two_runs, open_page):
    page = open_page(two_runs)
    for run, name in enumerate(("base", "tuned")):
        for key, label in (("first_token_ns", "TTFT"), ("total_ns", "latency")):
            measured = [reply["timing"][key] / 1e9 for reply in replies(two_runs.parents[1] / name)]
            hundredths = statistics.quantiles(measured, n=100, method="inclusive")
            for share in (50, 90, 95, 99):
                assert cells(page, "times", f"{label}, p{share}")[run] == f"{hundredths[share - 1]:.3f} s"
            assert cells(page, "times", f"{label}, max")[run] == f"{max(measured):.3f} s"
            assert cells(page, "times", f"{label}, mean")[run] == f"{statistics.mean(measured):.3f} s"


def test_what_was_in_flight_and_came_out_adds_up_to_what_the_replies_took(two_runs, open_page):
    page = open_page(two_runs)
    for run, name in enumerate(("base", "tuned")):
        over = page.run("return report.runs[arguments[0]].over_time", run)
        stored = replies(two_runs.parents[1] / name)
        in_flight = sum(over["in_flight"]) * over["step_s"]
        assert in_flight == pytest.approx(sum(reply["timing"]["total_ns"] for reply in stored) / 1e9, rel=0.01)
        tokens = sum(over["tokens_per_s"]) * over["step_s"]
        assert tokens == pytest.approx(sum(reply["usage"]["completion_tokens"] for reply in stored), rel=0.01)
        assert {share for share in over["reported_share"] if share is not None} == {0.8}
        assert set(over["predicted_share"]) == {None}  # This backend keeps no prefix.


def test_errors_are_counted_by_class(two_runs, open_page):
    page = open_page(two_runs)
    assert cells(page, "errors", "A") == ["backend_fault", "1", "1", "broke at i059"]


def test_the_filter_finds_by_id_category_verdict_and_text(two_runs, open_page):
    page = open_page(two_runs)
    assert page.found() == "60 of 60 items"
    assert page.items() == [f"i{n:03}" for n in range(50)]
    page.choose("query", "i01")
    assert page.items() == [f"i01{n}" for n in range(10)]
    page.choose("query", "")
    page.choose("category", "1")
    assert page.items() == [f"i{n:03}" for n in range(1, 60, 2)]
    page.choose("category", "")
    page.choose("verdict", "errored")
    assert page.items() == ["i059"]
    page.choose("run", "1")
    page.choose("verdict", "wrong")
    assert page.items() == ["i000", "i001", "i002", *(f"i{n:03}" for n in range(45, 60))]
    page.choose("order", "slow")
    assert page.items()[:2] == ["i059", "i058"]
    page.choose("verdict", "")
    page.choose("query", "NOT 47")
    assert page.items() == []
    page.choose("in-texts", True)
    assert page.items() == ["i047"]


def test_an_item_shows_prompt_target_replies_and_verdicts(two_runs, open_page):
    page = open_page(two_runs)
    page.choose("query", "i001")
    page.open_item(0)
    shown = page.text("#items tr.details")
    assert SYSTEM in shown and "ask i001. Is it so?" in shown and '"yes"' in shown
    assert "Reply of A" in shown and "Reply of B" in shown and "no, not 1" in shown
    assert "right, " in shown and "wrong, " in shown and "compared: no, not 1" in shown
    # The rules that all items share stand in the page once for all of them.
    assert page.run("return document.querySelectorAll('#items tr.details details.shared').length") == 1
    page.choose("query", "i059")
    page.open_item(0)
    assert "why: backend_fault" in page.text("#items tr.details")


def test_long_texts_are_cut_in_the_middle_and_say_so(runs, open_page):
    # 300,000 bytes, of which a quarter are 2 long, so that a cut between bytes would show.
    long = "".join(f"part {n} é " for n in range(20000))
    runs.suite([{"id": "long", "prompt": "begins" + long + "ends", "target": "yes"}])
    runs.run("out", [{"text": "opens" + long + "closes"}])
    runs.report("out", "-o", "page.html")
    page = open_page(runs.folder / "page.html")
    page.open_item(0)
    cut = page.run("return [...document.querySelectorAll('#items tr.details .turn')].map((one) => one.textContent)")
    for text, begin, end in ((cut[0], "userbegins", "ends"), (cut[1], "textopens", "closes")):
        assert text.startswith(begin) and text.endswith(end)
        front, left_out, back = re.fullmatch(
            r"(?:user|text)(.*) \[([\d,]+) bytes left out\] (.*)", text, re.DOTALL
        ).groups()
        whole = len((begin[4:] + long + end).encode())
        assert 2040 <= len(front.encode()) + len(back.encode()) <= 2048
        assert int(left_out.replace(",", "")) == whole - len(front.encode()) - len(back.encode())
        assert "\ufffd" not in text


def test_predicted_and_reported_prefix_hits_of_a_model_are_shown(runs, open_page):
    runs.suite([{"id": f"q{n}", "messages": [{"role": "system", "content": "You answer briefly. " * 12},
                                             {"role": "user", "content": f"number {n}"}],
                 "target": "x", "params": {"temperature": 0, "max_tokens": 8}} for n in range(12)])  # fmt: skip
    runs("run", "suite.jsonl", "--model", MODEL, "--context-per-slot", 1024, "--slots", 2, "--out", "out", "--quiet")
    told = json.loads((runs.folder / "out/summary.json").read_text())
    runs.report("out")
    page = open_page(runs.folder / "out/report.html")
    assert told["cached_tokens"] > 0
    assert cells(page, "prefix", "predicted") == [f"{told['prefix']['predicted_cached_tokens']:,}"]
    assert cells(page, "prefix", "reported") == [f"{told['cached_tokens']:,}"]
    assert cells(page, "prefix", "of the prompts") == [f"{100 * told['cached_tokens'] / told['prompt_tokens']:.1f} %"]
    assert page.run("return plots.some((one) => one.canvas.ariaLabel.startsWith('Cached share'))")
    assert page.console() == []


def test_a_bound_that_is_found_while_running_has_its_history(runs, open_page):
    runs.suite(shop_items(60))
    runs.run("out", shop_replies("r" * 60), "--concurrency", "auto")
    told = json.loads((runs.folder / "out/summary.json").read_text())
    runs.report("out")
    page = open_page(runs.folder / "out/report.html")
    (limits,) = page.run("return report.runs[0].over_time.limits")
    assert [step["limit"] for step in limits] == [step["limit"] for step in told["endpoints"][0]["limit_history"]]
    assert page.text("#limits summary") == f"Limit history ({len(limits)})"


def test_the_same_runs_give_the_same_bytes(two_runs, runs):
    first = two_runs.read_bytes()
    runs.report("base", "tuned", "-o", "again.html")
    assert (runs.folder / "again.html").read_bytes() == first
    assert not list(runs.folder.glob("**/*.partial"))


def test_what_cannot_be_reported_is_refused_by_name_and_leaves_no_page(two_runs, runs):
    runs.suite(shop_items(3), name="other.jsonl")
    runs.run("other", shop_replies("rrr"), suite="other.jsonl")
    for named, said in [
        (["base", "other"], "holds answers to another suite"),
        (["base", "base/run.db"], "is named twice"),
        (["absent"], "there is no run file absent"),
        (["base", "-o", "absent/page.html"], "cannot write absent/page.html"),
        ([], "RUN is required"),
    ]:
        done = runs("report", *named, code=2)
        assert said in done.stderr
    (runs.folder / "suite.jsonl").rename(runs.folder / "moved.jsonl")
    assert "--suite" in runs("report", "tuned", code=2).stderr
    assert not (runs.folder / "tuned/report.html").exists()
    runs.report("tuned", "--suite", "moved.jsonl")
    assert (runs.folder / "tuned/report.html").exists()
