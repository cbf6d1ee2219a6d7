"""Debian's Chromium without a screen, and what a page does in it."""

import json
import pathlib
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    # As root Chromium has no sandbox of its own; the pages are ours.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--disable-background-networking", "--no-first-run", "--window-size=1280,900"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


class Page:
    """A report that is open."""

    def __init__(self, driver, path, dark=False):
        self.driver = driver
        self.url = pathlib.Path(path).resolve().as_uri()
        driver.get("about:blank")
        driver.get_log("browser"), driver.get_log("performance")
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        driver.get(self.url)
        self.wait("document.documentElement.dataset.ready === 'yes'", 60)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, expression, seconds=20):
        WebDriverWait(self.driver, seconds, 0.05).until(lambda _: self.run(f"return {expression}"))

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for, but for the page itself."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        asked = [
            event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if url != self.url]

    def choose(self, control, value):
        """Sets a control of the filter, as a person does, and waits for the table."""
        self.run(
            """const [id, value] = arguments;
            window.drawn = null;
            new MutationObserver((_, watch) => { window.drawn = true; watch.disconnect(); })
              .observe(document.querySelector("#items tbody"), { childList: true });
            const control = document.getElementById(id);
            if (control.type === "checkbox") control.checked = value; else control.value = value;
            control.dispatchEvent(new Event(control.type === "search" ? "input" : "change"));""",
            control, value)  # fmt: skip
        self.wait("window.drawn === true")

    def items(self):
        """Ids on the page of the table."""
        return self.run("return [...document.querySelectorAll('#items button.open')].map((one) => one.textContent)")

    def found(self):
        return self.run("return document.getElementById('found').textContent")

    def text(self, selector="body"):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def open_item(self, place):
        self.run("document.querySelectorAll('#items button.open')[arguments[0]].click()", place)
        self.wait("document.querySelector('#items tr.details')")
