"""Text of models, suites and servers is text, whatever it looks like."""

import itertools

from selenium.common.exceptions import NoAlertPresentException

DEED = "window.ran=(window.ran||0)+1"
ATTACKS = [
    f"<script>{DEED}</script>",
    f"</script><script>{DEED}</script>",
    f"<!--<script>{DEED}</script>-->",
    f"--><script>{DEED}</script><!--",
    f"]]><script>{DEED}</script>",
    f"<img src=x onerror='{DEED}'>",
    f"<svg onload='{DEED}'>",
    f"<svg><script>{DEED}</script></svg>",
    f"<iframe srcdoc='<script>parent.{DEED}</script>'></iframe>",
    f"<iframe src='javascript:parent.{DEED}'></iframe>",
    f"<a href='javascript:{DEED}'>x</a>",
    f"<details open ontoggle='{DEED}'>",
    f"<body onload='{DEED}'>",
    f"<input autofocus onfocus='{DEED}'>",
    f"<video><source onerror='{DEED}'></video>",
    f"<math><mtext></table><img src=x onerror='{DEED}'>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<base href=http://127.0.0.1:9/>",
    "<form action=http://127.0.0.1:9/><input type=submit>",
    f'"onmouseover="{DEED}',
    f"';{DEED};//",
    f'";{DEED};//',
    f"`${{{DEED}}}`",
    f"${{{DEED}}}",
    f"{{{{constructor.constructor('{DEED}')()}}}}",
    f"\\u003cscript>{DEED}\\u003c/script>",
    f"&lt;script&gt;{DEED}&lt;/script&gt;",
    f"\u2028{DEED}\u2029",
    f"%3Cscript%3E{DEED}%3C/script%3E",
    f"javascript:{DEED}",
    "__proto__",
    "constructor",
    "{policy}{style}{data}{scripts}",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe\u202c",
    "\x00\x01\x7f\x9b31m",
]
FRAMES = ["{}", "yes {}", "{} yes", "<div>{}</div>", "</pre>{}", "</textarea>{}", "</title>{}", "\"]}}{}", "'>{}", "\">{}",
          "<!--{}", "\n{}\n", "</td></tr></table>{}", "\\\"{}"]  # fmt: skip
STRINGS = list(dict.fromkeys(frame.format(attack) for attack, frame in itertools.product(ATTACKS, FRAMES)))[:500]


def attacked(runs):
    assert len(STRINGS) == 500
    runs.suite(
        {"id": f"{n} {text}", "category": STRINGS[n % 5], "target": text,
         "messages": [{"role": "system", "content": text}, {"role": "user", "content": f"ask i{n:03}. {text}"}]}
        for n, text in enumerate(STRINGS))  # fmt: skip

    def reply(n, text):
        line = {"match": f"ask i{n:03}."}
        if n % 10 == 9:
            return line | {"error": {"code": "backend_fault", "message": text}}
        return line | {"text": text, "calls": [{"name": text, "arguments": {text: text}}] if n % 3 == 0 else []}

    for name in ("one", "two"):
        runs.run(name, [reply(n, text) for n, text in enumerate(STRINGS)], "--task", STRINGS[1],
                 model=STRINGS[0] + name, code=4)  # fmt: skip
    runs.report("one", "two")
    return runs.folder / "one/report.html"


def test_no_string_of_five_hundred_runs_or_becomes_an_element(runs, open_page, driver):
    path = attacked(runs)
    page = open_page(path)
    scripts = page.run("return document.scripts.length")
    elements = "script,img,svg,iframe,a,video,math,style,link,base,textarea,object,embed"
    count = f"return document.querySelectorAll({elements!r}).length"
    before = page.run(count)
    seen = 0
    for number in range(10):
        assert page.run("return document.getElementById('page').textContent") == f"page {number + 1} of 10"
        page.run("document.querySelectorAll('#items button.open').forEach((one) => one.click())")
        page.wait("document.querySelectorAll('#items tr.details').length === 50")
        shown = page.run("return [...document.querySelectorAll('#items tr.details pre')].map((one) => one.textContent)")
        seen += sum("window.ran" in text for text in shown)
        assert page.run("return document.scripts.length") == scripts
        assert page.run(count) == before
        page.run("document.getElementById('next').click()")
        if number < 9:
            page.wait(f"document.getElementById('page').textContent === 'page {number + 2} of 10'")
    assert seen > 1000  # What does not run is there to be read.
    page.choose("in-texts", True)
    page.choose("query", "<script>")
    assert page.run("return window.ran === undefined")
    assert page.run("return location.href") == page.url
    assert page.console() == []
    assert page.requests() == []
    try:
        raise AssertionError(driver.switch_to.alert.text)
    except NoAlertPresentException:
        pass


def test_controls_and_marks_of_direction_are_shown_and_not_obeyed(runs, open_page):
    runs.suite([{"id": "a\x1b[2Jb", "prompt": "p\u202eq", "target": "yes"}])
    runs.run("out", [{"text": "r\x07\x9b\u2028s"}])
    runs.report("out")
    raw = (runs.folder / "out/report.html").read_bytes()
    assert not set(raw) & (set(range(32)) - {10})  # No control but the line end.
    assert b"\xe2\x80\xa8" not in raw and b"\xe2\x80\xae" not in raw
    page = open_page(runs.folder / "out/report.html")
    page.open_item(0)
    assert page.items() == ["a\\u001b[2Jb"]
    shown = page.text("#items tr.details")
    assert "p\\u202eq" in shown and "r\\u0007\\u009b\\u2028s" in shown


def test_the_policy_stops_what_would_get_into_the_page(runs, open_page, tmp_path):
    runs.suite([{"id": "i", "prompt": "p", "target": "yes"}])
    runs.run("out", [{"text": "yes"}])
    runs.report("out")
    page = (runs.folder / "out/report.html").read_text()
    holes = f"<script>{DEED}</script><img src=x onerror='{DEED}'><p style='color:red' id=p>x</p><script src=http://127.0.0.1:9/x></script>"
    (tmp_path / "holed.html").write_text(page.replace("<main>", "<main>" + holes))
    opened = open_page(tmp_path / "holed.html")
    assert opened.run("return window.ran === undefined")
    assert opened.run("return getComputedStyle(document.getElementById('p')).color") != "rgb(255, 0, 0)"
    assert sum("Content Security Policy" in line for line in opened.console()) >= 4
