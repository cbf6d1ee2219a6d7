"""A run of a hundred thousand items makes a page that a mail can carry and a laptop opens."""

import json
import os
import pathlib
import random
import time

ITEMS = 100_000
SYSTEM = "".join(f"Rule {n}: what rule {n} says about refunds is what is done.\n" for n in range(8))


def processor_seconds(driver):
    """Of each process of the browser that renders pages."""
    spent = {}
    children = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(after_name[1]), []).append(int(folder.name))
            if b"--type=renderer" in (folder / "cmdline").read_bytes():
                spent[int(folder.name)] = (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue  # It has ended.
    own, left = set(), [driver.service.process.pid]
    while left:
        one = left.pop()
        own.add(one)
        left += children.get(one, [])
    return {pid: seconds for pid, seconds in spent.items() if pid in own}


def test_a_hundred_thousand_items_fit_into_fifty_megabytes_and_open_in_three_seconds(runs, open_page, driver):
    # Replies of random characters, which do not shrink: the page is as long as it gets.
    chance = random.Random(20)
    runs.suite(
        {"id": f"item-{n:06}", "category": f"c{n % 20}", "target": "yes",
         "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"Question {n}: {chance.random()}?"}]}
        for n in range(ITEMS))  # fmt: skip
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
    runs.run("out", ({"text": "".join(chance.choices(letters, k=1000)) if n % 2 else "yes", "delay_ms": n % 7,
                      "usage": {"prompt_tokens": 500, "completion_tokens": n % 200}} for n in range(ITEMS)),
             "--concurrency", "64", "--order", "suite", "--temperature", "0")  # fmt: skip
    done = runs("report", "out")
    page_file = runs.folder / "out/report.html"
    assert f"{ITEMS} items" in done.stdout and "the page is full" in done.stdout
    assert page_file.stat().st_size <= 50_000_000
    before = processor_seconds(driver)
    page = open_page(page_file)
    page.wait("document.querySelectorAll('#items button.open').length === 50")
    time.sleep(0.5)  # Whatever the page still does by itself counts, too.
    spent = sum(seconds - before.get(pid, 0) for pid, seconds in processor_seconds(driver).items())
    print(f"page: {page_file.stat().st_size / 1e6:.1f} MB, opened in {spent:.2f} s of processor time")
    assert 0.1 < spent < 3
    assert page.found().startswith("100,000 of 100,000 items")
    page.choose("query", "item-0999")
    assert page.items()[0] == "item-099900"
    page.open_item(0)
    assert "The page was full" in page.text("#items tr.details")
    page.choose("query", "item-000001")
    page.open_item(0)
    assert "Question 1: " in page.text("#items tr.details")
    page.choose("query", "")
    page.choose("order", "slow")
    assert page.console() == []
    assert json.loads((runs.folder / "out/summary.json").read_text())["answered"] == ITEMS
