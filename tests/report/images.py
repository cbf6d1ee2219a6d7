"""Makes the pictures of docs/report.md, of two runs whose replies are scripted:

EVALCORE_PROGRAM=build/release/evalcore python tests/report/images.py
"""

import os
import pathlib
import random
import tempfile
import time

from browser import Page, start_browser
from runs import Runs

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/images"
MOST_BYTES = 150_000
ITEMS = 400
SYSTEM = "You answer questions of a shop's customers with yes or no. " + "".join(
    f"Rule {n}: goods of kind {n} may be returned within {10 + n} days.\n" for n in range(24))  # fmt: skip


def items():
    for n in range(ITEMS):
        yield {"id": f"shop-{n:03}", "category": ["returns", "refunds", "stock"][n % 3], "target": "yes",
               "messages": [{"role": "system", "content": SYSTEM},
                            {"role": "user", "content": f"({n:03}) May I return what I bought {n % 30 + 1} days ago?"}]}  # fmt: skip


def replies(chance, right):
    for n in range(ITEMS):
        line = {"match": f"({n:03})"}
        if chance.random() < 0.02:
            yield line | {"error": {"code": "timeout", "message": "no first byte within 600 s"}}
            continue
        first = chance.randint(60, 180)
        tokens = chance.randint(1, 60)
        text = "yes" if chance.random() < right else f"no, since rule {n % 24} does not allow it"
        yield line | {"text": text, "first_token_ms": first, "delay_ms": first + 12 * tokens,
                      "usage": {"prompt_tokens": 700, "completion_tokens": tokens,
                                "cached_tokens": 0 if n < 4 else chance.choice([576, 640])}}  # fmt: skip


def photograph(driver, page_file, name, width, height, dark, scale, mobile):
    view = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", view)
    page = Page(driver, page_file, dark=dark)
    if mobile:
        page.choose("verdict", "changed")
    page.run("document.getElementById(arguments[0]).scrollIntoView()", "h-items" if mobile else "h-comparison")
    time.sleep(0.5)
    assert driver.save_screenshot(str(IMAGES / name))
    assert (IMAGES / name).stat().st_size <= MOST_BYTES


def main():
    program = str(pathlib.Path(os.environ["EVALCORE_PROGRAM"]).resolve())
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(program, pathlib.Path(folder))
        runs.suite(items(), name="shop.jsonl")
        chance = random.Random(7)
        for name, right in (("base", 0.62), ("tuned", 0.72)):
            runs.run(name, replies(chance, right), "--concurrency", 32, suite="shop.jsonl", code=4)
        runs.report("base", "tuned", "-o", "report.html")
        driver = start_browser()
        try:
            photograph(driver, runs.folder / "report.html", "report-light.png", 1280, 1080, False, 1, False)
            photograph(driver, runs.folder / "report.html", "report-dark-phone.png", 390, 720, True, 1.5, True)
        finally:
            driver.quit()


main()
