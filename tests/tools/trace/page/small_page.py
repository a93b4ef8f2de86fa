# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the page of one small run."""
import math
import unittest

from browser import rows_of, seconds
from every_page import AnyWindow, EveryPage
from selenium.webdriver.common.keys import Keys


class Small(AnyWindow, EveryPage, unittest.TestCase):
    name = "small"

    def test_texts_are_texts(self):
        self.assertEqual(self.text("h1"), "a small product </script><script>window.broken = true</script>")
        self.assertIn("<!-- & \"quoted\" 'text' é", self.text(".command"))
        self.assertEqual(self.text(".warning"), "The trace ends before the run did: <b>its buffer was full</b>.")
        self.assertEqual(self.text(".badge"), "simulated")
        self.assertIsNone(self.js("return window.broken ?? null"))

    def test_speed_is_that_of_the_table(self):
        _, tasks, transfers = next(self.runs())
        span = max(float(each["end"]) for each in tasks + transfers)
        rate = float(self.js("return document.querySelector('[data-figure=rate]').dataset.value"))
        self.assertAlmostEqual(rate, sum(float(task["flops"]) for task in tasks) / span, delta=1e-6 * rate)

    def test_hovering_names_every_fifth_task(self):
        for task in rows_of(self.folder / "tasks.csv")[::5]:
            self.zoom_to(float(task["start"]), float(task["end"]))
            self.mouse("mouseMoved", self.box("task", self.task_index(task["job"])))
            self.assertEqual(self.text("#tooltip .thing"), task["name"])
            facts = self.facts("#tooltip")
            self.assertEqual(facts["worker"], task["worker"])
            for time_of in ("submitted", "ready", "start", "end"):
                self.assert_time(facts[time_of], task[time_of])
            self.assert_time(facts["duration"], seconds(task))

    def test_hovering_tells_of_a_transfer(self):
        for index, transfer in list(enumerate(rows_of(self.folder / "transfers.csv")))[::9]:
            self.zoom_to(float(transfer["start"]), float(transfer["end"]))
            self.mouse("mouseMoved", self.box("transfer", index))
            self.assertEqual(self.text("#tooltip .thing"),
                             f"{transfer['operand']}({transfer['row']},{transfer['column']})")
            facts = self.facts("#tooltip")
            self.assertEqual(facts["link"], transfer["link"])
            self.assertEqual(facts["bytes"], "8.389 MB")
            self.assertTrue(facts["rate"].endswith("GB/s"), facts)
            why = {"fetch": "fetched", "prefetch": "prefetched", "write back": "written back"}
            self.assertIn(why[transfer["reason"]], facts["why"])
            self.assert_time(facts["start"], transfer["start"])

    def test_hovering_an_empty_place_tells_since_when(self):
        # GPU 1 is idle at the end of the run.
        at = self.js("""const { chart } = tesseraReport, row = chart.rows.find(r => r.label === 'GPU 1');
            const seen = chart.gantt.getBoundingClientRect();
            return { x: seen.left + chart.view.width - 20, y: seen.top + row.y + 5 }""")
        self.mouse("mouseMoved", at)
        self.assertIn("Gap on GPU 1", self.text("#tooltip .thing"))
        self.assertTrue(self.element("#crosshair").is_displayed())

    def test_the_wheel_zooms_around_the_pointer(self):
        before = self.view()
        at = self.box("task", self.task_index(60))
        at = {"x": round(at["x"]), "y": round(at["y"])}
        under = lambda: self.js("return tesseraReport.chart.view.time(arguments[0] - "
                                "tesseraReport.chart.gantt.getBoundingClientRect().left)", at["x"])
        here = under()
        self.mouse("mouseWheel", at, deltaX=0, deltaY=-400)
        self.drawn()
        self.assertAlmostEqual(self.length(), (before["end"] - before["begin"]) / math.e, delta=1e-6)
        self.assertAlmostEqual(under(), here, delta=1e-6)
        self.mouse("mouseWheel", at, deltaX=0, deltaY=4000)
        self.assertEqual(self.view(), before)

    def test_dragging_pans(self):
        self.zoom_to(0.02, 0.03)
        at, before = self.box("task", self.task_index(60)) or {"x": 700, "y": 300}, self.view()
        self.mouse("mousePressed", at, button="left", buttons=1, clickCount=1)
        for step in (20, 60, 100):
            self.mouse("mouseMoved", {"x": at["x"] - step, "y": at["y"]}, button="left", buttons=1)
        self.mouse("mouseReleased", {"x": at["x"] - 100, "y": at["y"]}, button="left", clickCount=1)
        moved = 100 * self.length() / before["width"]
        self.assertAlmostEqual(self.view()["begin"] - before["begin"], moved, delta=1e-6)
        self.assertIsNone(self.js("return tesseraReport.chart.selected"), "a drag is no click")

    def test_buttons_zoom_and_pan(self):
        whole = self.view()
        for button in ("zoom-in", "zoom-in"):
            self.element("#" + button).click()
        self.assertAlmostEqual(self.length(), (whole["end"] - whole["begin"]) / 2.25, delta=1e-6)
        begin = self.view()["begin"]
        self.element("#pan-right").click()
        self.assertGreater(self.view()["begin"], begin)
        self.element("#pan-left").click()
        self.assertAlmostEqual(self.view()["begin"], begin, delta=1e-9)
        self.element("#zoom-out").click()
        self.element("#zoom-reset").click()
        self.assertEqual(self.view(), whole)

    def test_keys_do_all_that_the_mouse_does(self):
        for _ in range(40):
            if self.js("return document.activeElement.id") == "gantt":
                break
            self.press(Keys.TAB)
        self.assertEqual(self.js("return document.activeElement.id"), "gantt", "cannot be reached by Tab")
        whole = self.view()
        self.press("+", "+", Keys.ARROW_RIGHT)
        self.assertLess(self.length(), (whole["end"] - whole["begin"]) / 2)
        self.assertGreater(self.view()["begin"], 0)
        self.press("-", "0")
        self.assertEqual(self.view(), whole)

        self.press("n")
        first = self.text("#details .thing")
        self.press("n")
        second = self.text("#details .thing")
        self.press("p")
        self.assertEqual(self.text("#details .thing"), first)
        self.assertNotEqual(first, second)
        worker = self.facts("#details")["worker"]
        tasks = [task for task in rows_of(self.folder / "tasks.csv") if task["worker"] == worker]
        tasks.sort(key=lambda task: float(task["start"]))
        self.assertEqual([first, second], [task["name"] for task in tasks[:2]])

        self.press(Keys.ARROW_DOWN)
        self.assertNotEqual(self.facts("#details")["worker"], worker)
        self.press(Keys.ARROW_UP)
        self.assertEqual(self.facts("#details")["worker"], worker)
        self.press("f")
        self.assertLess(self.length(), 0.01)
        self.press(Keys.HOME, Keys.ESCAPE)
        self.assertEqual(self.view(), whole)
        self.assertEqual(self.facts("#details"), {})

    def test_keys_reach_links_filters_and_gaps(self):
        self.focus_chart()
        self.press("n")
        for _ in range(3):
            self.press(Keys.ARROW_DOWN)
        self.assertIn("link", self.facts("#details"))
        self.js("document.querySelector('[data-routine=gemm]').focus()")
        self.press(Keys.SPACE)
        self.assertFalse(self.js("return tesseraReport.chart.shown.get('gemm')"))
        self.js("[...document.querySelectorAll('#gaps-1 button')].at(-1).focus()")
        self.press(Keys.ENTER)
        self.assertLess(self.length(), self.js("return tesseraReport.chart.view.span"))
        self.assertEqual(self.element("#details").get_attribute("aria-live"), "polite")

    def test_a_click_keeps_the_facts(self):
        task = rows_of(self.folder / "tasks.csv")[30]
        self.click(self.box("task", self.task_index(task["job"])))
        self.assertEqual(self.text("#details .thing"), task["name"])
        self.mouse("mouseMoved", {"x": 5, "y": 5})
        self.assertEqual(self.text("#details .thing"), task["name"])
        self.assertFalse(self.element("#tooltip").is_displayed())

    def colour_at(self, at):
        return self.js("""const { gantt, ratio } = tesseraReport.chart, seen = gantt.getBoundingClientRect();
            return [...gantt.getContext('2d').getImageData((arguments[0] - seen.left) * ratio,
              (arguments[1] - seen.top) * ratio, 1, 1).data].slice(0, 3)""", at["x"], at["y"])

    def test_the_filter_hides_tasks(self):
        tasks = rows_of(self.folder / "tasks.csv")
        task = next(task for task in tasks if task["routine"] == "gemm" and task["worker"] == "GPU 0")
        for mark in ("#show-path", "#show-gaps"):
            self.element(mark).click()
        at = self.box("task", self.task_index(task["job"]))
        self.assertEqual(self.drawn()["task"], len(tasks))
        self.assertEqual(self.colour_at(at), [0x44, 0x77, 0xAA])
        self.js("document.querySelector('[data-routine=gemm]').click()")
        self.assertEqual(self.drawn()["task"], sum(task["routine"] != "gemm" for task in tasks))
        self.assertNotEqual(self.colour_at(at), [0x44, 0x77, 0xAA])
        self.mouse("mouseMoved", at)
        self.assertEqual(self.browser.find_elements("css selector", "#tooltip:not([hidden]) [data-fact=duration]"), [])
        self.js("document.querySelector('[data-routine=gemm]').click()")
        self.assertEqual(self.drawn()["task"], len(tasks))

    def picture(self):
        self.drawn()
        return self.js("return tesseraReport.chart.gantt.toDataURL()")

    def test_the_critical_path_and_the_gaps_can_be_hidden(self):
        for mark in ("#show-path", "#show-gaps"):
            with_mark = self.picture()
            self.element(mark).click()
            self.assertNotEqual(self.picture(), with_mark, mark)

    def test_a_gap_of_the_table_is_shown_on_the_chart(self):
        for i, gap in enumerate(self.js("return tesseraReport.runs[0].gaps")):
            self.js("document.querySelectorAll('#gaps-1 button')[arguments[0]].click()", i)
            view = self.view()
            self.assertLessEqual(view["begin"], gap["begin"] + 1e-9)
            self.assertGreaterEqual(view["end"], gap["end"] - 1e-9)
            self.assertIn(gap["text"], self.text("#details"))

    def test_can_be_read_in_light_and_in_dark(self):
        backgrounds = []
        for scheme in ("light", "dark"):
            self.show(scheme)
            self.drawn()
            backgrounds.append(self.js("return getComputedStyle(document.body).backgroundColor"))
            self.focus_chart()
            self.press("n")
            worst = self.js(CONTRAST)
            self.assertGreater(worst["count"], 100)
            self.assertGreaterEqual(worst["contrast"], 4.5, f"{scheme}: {worst}")
        self.assertNotEqual(*backgrounds)

    def test_draws_anew_for_the_other_scheme(self):
        light = self.picture()
        self.show("dark")
        self.assertNotEqual(self.picture(), light)

    def test_has_one_pixel_of_the_canvas_for_each_of_a_fine_screen(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 1280, "height": 1000, "deviceScaleFactor": 2, "mobile": False})
        try:
            self.setUp()
            self.drawn()
            size = self.js("const { width, clientWidth, height, clientHeight } = tesseraReport.chart.gantt;"
                           "return [width, clientWidth, height, clientHeight]")
            self.assertAlmostEqual(size[0], 2 * size[1], delta=1)
            self.assertAlmostEqual(size[2], 2 * size[3], delta=1)
            task = rows_of(self.folder / "tasks.csv")[30]
            self.mouse("mouseMoved", self.box("task", self.task_index(task["job"])))
            self.assertEqual(self.text("#tooltip .thing"), task["name"])
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# The lowest contrast between a text and its background, as defined by WCAG 2.
CONTRAST = """
const numbers = css => css.match(/[\\d.]+/g).map(Number);
const linear = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const behind = element => {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbers(getComputedStyle(e).backgroundColor);
    if ((colour[3] ?? 1) === 1) return colour;
  }
  return [255, 255, 255];
};
let worst = { contrast: 99, count: 0 };
for (const element of document.body.querySelectorAll('*')) {
  const said = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join(' ').trim();
  if (!said || !element.checkVisibility() || element.tagName === 'SCRIPT') continue;
  const text = luminance(numbers(getComputedStyle(element).color)), ground = luminance(behind(element));
  const [a, b] = text > ground ? [text, ground] : [ground, text];
  const contrast = (a + 0.05) / (b + 0.05), count = worst.count + 1;
  worst = contrast < worst.contrast ? { contrast, said, class: element.className, count } : { ...worst, count };
}
return worst;
"""
