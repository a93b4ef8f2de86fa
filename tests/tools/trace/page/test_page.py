# SPDX-License-Identifier: BSD-3-Clause
"""test_page.py FOLDER [TEST...]: compares the pages that make_pages wrote there with their tables, in Chromium.

Needs Debian's chromium, chromium-driver and python3-selenium.
"""
import math
import sys
import time
import unittest

from browser import Page, program, rows_of
from every_page import AnyWindow, EveryPage
from selenium.webdriver.common.keys import Keys
from small_page import Small  # noqa: F401: unittest finds it here


class Two(AnyWindow, EveryPage, unittest.TestCase):
    name = "two"
    tables = ("1", "2")

    def test_both_runs_share_an_axis(self):
        self.drawn()
        spans = self.js("return tesseraReport.runs.map(run => run.span)")
        self.assertGreater(spans[1], spans[0])
        self.assertEqual(self.view()["end"], max(spans))
        starts = []
        for number, tasks, _ in self.runs():
            task = max(tasks, key=lambda each: float(each["start"]))
            at = self.box("task", self.task_index(task["job"], number), number)
            self.mouse("mouseMoved", at)
            self.assertEqual(self.text("#tooltip .thing"), task["name"])
            starts.append((float(task["start"]) + float(task["end"])) / 2 / max(spans))
            left = self.js("return tesseraReport.chart.gantt.getBoundingClientRect().left")
            self.assertAlmostEqual((at["x"] - left) / self.view()["width"], starts[-1], delta=0.002)
        headings = self.js("return [...document.querySelectorAll('.label.heading')].map(h => h.dataset.run)")
        self.assertEqual(headings, ["1", "2"])

    def test_says_what_differs(self):
        rows = self.table("differences")
        self.assertGreater(len(rows), 5)
        spans = self.js("return tesseraReport.runs.map(run => run.span)")
        self.assertTrue(any(abs(row["#run 1"] - spans[0]) + abs(row["#run 2"] - spans[1]) < 1e-9 for row in rows))
        for row in rows:
            if not math.isnan(row["#difference"]):
                self.assertAlmostEqual(row["#difference"], row["#run 2"] - row["#run 1"], delta=1e-9)

    def test_a_routine_is_filtered_in_both(self):
        all_tasks = [task for _, tasks, _ in self.runs() for task in tasks]
        self.resize(1280, 2400)
        self.assertEqual(self.drawn()["task"], len(all_tasks))
        self.js("document.querySelector('[data-routine=gemm]').click()")
        self.assertEqual(self.drawn()["task"], sum(task["routine"] != "gemm" for task in all_tasks))


class Empty(Page, unittest.TestCase):
    name = "empty"

    def test_nothing_is_shown_as_such(self):
        self.focus_chart()
        self.press("n", "+", Keys.ARROW_DOWN, "f", "0")
        self.assertEqual(self.drawn(), {"task": 0, "transfer": 0})
        self.assertEqual(self.browser.get_log("browser"), [])


class Large(EveryPage, unittest.TestCase):
    name = "large"

    def test_finds_a_task_among_all(self):
        tasks = rows_of(self.folder / "tasks.csv")
        self.assertEqual(len(tasks), 100000)
        for task in (tasks[0], tasks[54321], tasks[-1]):
            self.zoom_to(float(task["start"]) - 0.001, float(task["end"]) + 0.001)
            self.mouse("mouseMoved", self.box("task", self.task_index(task["job"])))
            self.assertEqual(self.text("#tooltip .thing"), task["name"])

    def test_all_are_drawn(self):
        self.assertEqual(self.drawn()["task"], 100000)


class Speed(Page, unittest.TestCase):
    name = "large"

    def test_speed_is_measured(self):
        """Prints the speed, but does not check it, since other work on the machine must not make the test fail."""
        begin = time.monotonic()
        self.browser.get((self.folder / "report.html").resolve().as_uri())
        self.drawn()
        loaded = time.monotonic() - begin
        first = self.js("return performance.getEntriesByName('tessera-drawn')[0].startTime")
        print(f"\n100,000 tasks: drawn {first:.0f} ms after the start of loading, "
              f"the driver was told after {1e3 * loaded:.0f} ms", file=sys.stderr)
        for width in (1280, 1920):
            self.browser.set_window_size(width, 1000)
            for magnified in (1.2, 10, 1000):
                frames, slowest = self.browser.execute_async_script(PAN, magnified)
                print(f"panning {width} pixels, magnified {magnified:g}: {frames:.0f} frames/s, "
                      f"longest pause {slowest:.0f} ms", file=sys.stderr)
        self.browser.set_window_size(1280, 1000)


# Pans back and forth for two seconds. Returns frames per second and the longest time between two frames.
PAN = """
const [magnified, done] = arguments, { chart } = tesseraReport, { view } = chart;
document.getElementById('timeline').scrollIntoView();
view.reset();
view.zoom(magnified, view.span / 2);
let frames = -20, begin = 0, last = 0, slowest = 0;
const frame = now => {
  if (++frames === 0) begin = now;
  if (frames > 0) slowest = Math.max(slowest, now - last);
  last = now;
  view.pan((frames % 80 < 40 ? 1 : -1) * view.length / 60);
  chart.requestDraw();
  if (frames > 0 && now - begin > 2000) done([1000 * frames / (now - begin), slowest]);
  else requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program("chromium", "chromium"), program("chromedriver", "chromium-driver")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
