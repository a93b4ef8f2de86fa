# SPDX-License-Identifier: BSD-3-Clause
"""Controls Chromium for the tests of a page."""
import atexit
import csv
import functools
import json
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
except ImportError:
    sys.exit("test_page.py needs Debian's package python3-selenium, and Debian's python3: this is " + sys.executable)

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "")


def program(name, package):
    found = shutil.which(name) or shutil.which(name, path="/usr/bin")
    if not found:
        sys.exit(f"test_page.py needs {name}, of Debian's package {package}")
    return found


@functools.cache
def the_browser():
    """A single browser for all pages, since starting one takes seconds."""
    profile = tempfile.mkdtemp(prefix="tessera-chromium-")
    atexit.register(shutil.rmtree, profile, ignore_errors=True)
    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium", "chromium")
    options.add_argument("--headless=new")
    options.add_argument("--no-sandbox")  # Chromium's sandbox does not work for root, for example in a container
    options.add_argument("--disable-dev-shm-usage")
    options.add_argument("--force-device-scale-factor=1")
    options.add_argument("--window-size=1280,1000")
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(service=Service(program("chromedriver", "chromium-driver")), options=options)
    atexit.register(browser.quit)
    return browser


@functools.cache
def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sums(rows, key, value):
    result = defaultdict(float)
    for row in rows:
        result[key(row)] += value(row)
    return dict(result)


def seconds(row):
    return float(row["end"]) - float(row["start"])


def requests_in(log):
    """The addresses that the page requested, from the browser's log without the browser's own pages."""
    for entry in log:
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent" and message["params"]["documentURL"].startswith("file:"):
            yield message["params"]["request"]["url"]


class Page:
    """The tests of the page `name`. Each test reloads the page."""

    @classmethod
    def setUpClass(cls):
        cls.browser = the_browser()
        cls.browser.get_log("browser"), cls.browser.get_log("performance")  # what is said of other pages
        cls.folder = FOLDER / cls.name

    def setUp(self):
        self.show("light")
        self.browser.get((self.folder / "report.html").resolve().as_uri())

    def show(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def resize(self, width, height):
        """Makes the window show this many CSS pixels until the end of the test. Real windows are at least 500 wide."""
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def drawn(self):
        """The numbers of visible objects after the next frame."""
        self.browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")
        return self.js("return tesseraReport.chart.drawn")

    def view(self):
        return self.js("const {begin, end, width} = tesseraReport.chart.view; return {begin, end, width}")

    def length(self):
        view = self.view()
        return view["end"] - view["begin"]

    def element(self, selector):
        return self.browser.find_element("css selector", selector)

    def text(self, selector):
        return self.element(selector).text

    def table(self, name):
        """Rows as {heading of the column: text}; a heading with the prefix "#" gives the number behind the text."""
        return self.js("""
            const table = document.getElementById(arguments[0]);
            const heads = [...table.tHead.rows[0].cells].map(cell => cell.firstChild?.textContent ?? '');
            return [...table.tBodies[0].rows].map(row => Object.fromEntries([...row.cells].flatMap((cell, i) =>
              [[heads[i], cell.textContent], ['#' + heads[i], Number(cell.dataset.value)]])))""", name)

    # --- mouse ---
    def box(self, kind, index, run=1):
        """The position of a task or transfer in the window, after scrolling to its row."""
        self.drawn()
        return self.js("""
            const [kind, index, number] = arguments, { chart, boxOf } = tesseraReport;
            const row = chart.rows.find(r => r.kind === kind && r.run.number === number && r.items.includes(index));
            const seen = () => chart.gantt.getBoundingClientRect();
            scrollBy(0, seen().top + row.y - 300);
            const box = boxOf({ row, index });
            const middle = box && [Math.max(0, box.x) + box.width / 2, box.y + box.height / 2];
            return box && { x: seen().left + middle[0], y: seen().top + middle[1] }
        """, kind, index, run)

    def mouse(self, kind, at, **more):
        self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": at["x"], "y": at["y"], **more})

    def click(self, at):
        self.mouse("mouseMoved", at)
        self.mouse("mousePressed", at, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", at, button="left", clickCount=1)

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def focus_chart(self):
        self.js("document.getElementById('gantt').focus()")

    def facts(self, selector):
        return self.js("return Object.fromEntries([...document.querySelectorAll(arguments[0] + ' dd')]"
                       ".map(dd => [dd.dataset.fact, dd.textContent]))", selector)

    def task_index(self, job, run=1):
        return self.js("return tesseraReport.runs[arguments[1] - 1].tasks.job.indexOf(arguments[0])", int(job), run)

    def zoom_to(self, start, end):
        self.js("const { chart } = tesseraReport; chart.view.show(arguments[0], arguments[1]); chart.requestDraw()",
                start, end)
        self.drawn()

    def assert_time(self, shown, expected):
        """A time from the details in seconds, whatever its unit."""
        number, unit = shown.replace("\u202f", "").split()
        self.assertAlmostEqual(float(number) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit], float(expected), delta=1.5e-6)
