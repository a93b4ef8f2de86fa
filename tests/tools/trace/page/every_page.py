# SPDX-License-Identifier: BSD-3-Clause
"""Tests that every page must pass."""
from collections import Counter

from browser import Page, requests_in, rows_of, seconds, sums

SIZES = [(1400, 1000), (1366, 650), (820, 1180), (390, 844)]

# Stores a line of pixels from each row of the whole chart.
WHOLE_CHART = """
    const { chart } = tesseraReport;
    const pixels = row => chart.gantt.getContext('2d', { willReadFrequently: true })
      .getImageData(0, Math.floor((row.y + row.height / 3) * chart.ratio), chart.gantt.width, 1).data;
    window.line = row => String.fromCharCode(...pixels(row));
    chart.printing = true;
    chart.requestDraw();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      window.whole = chart.rows.map(line);
      chart.printing = false;
      chart.requestDraw();
      arguments[0]();
    }));
"""

# The rows in the window by number, and those that look different from the whole chart.
ROWS_IN_WINDOW = """
    const { chart } = tesseraReport, top = chart.gantt.getBoundingClientRect().top;
    const inside = chart.rows.map((_, i) => i).filter(i => {
      const row = chart.rows[i];
      return top + row.y + row.height > 0 && top + row.y < innerHeight;
    });
    return [inside, inside.filter(i => line(chart.rows[i]) !== whole[i]).map(i => chart.rows[i].label)];
"""

# Texts in tables and figures that extend beyond their box or the window.
CUT_OFF = """
    const boxes = [...document.querySelectorAll('.table, .figures, .verdict, .toolbar, #details, #keys')];
    const cells = [...document.querySelectorAll('.table td, .table th, .table caption, .figures dd')];
    return [...boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.dataset.table ?? box.className),
            ...cells.filter(cell => cell.getBoundingClientRect().right > innerWidth).map(cell => cell.textContent)];
"""


class EveryPage(Page):
    """`tables` names the folders of the runs' tables."""
    tables = ("",)

    def runs(self):
        for number, folder in enumerate(self.tables, 1):
            yield number, rows_of(self.folder / folder / "tasks.csv"), rows_of(self.folder / folder / "transfers.csv")

    def test_loads_without_a_complaint_and_without_a_network(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        asked = list(requests_in(self.browser.get_log("performance")))
        self.assertTrue(asked)
        self.assertEqual([url for url in asked if not url.startswith(("file:", "data:"))], [])

    def test_shows_all_workers_and_links(self):
        for number, tasks, transfers in self.runs():
            labels = self.js("return [...document.querySelectorAll(`.label[data-run='${arguments[0]}']`)]"
                             ".map(label => [label.dataset.kind, label.querySelector('.name').textContent])", number)
            names = lambda kind: sorted(name for of, name in labels if of == kind)
            self.assertEqual(names("task"), sorted({task["worker"] for task in tasks}))
            self.assertEqual(names("transfer"), sorted({transfer["link"] for transfer in transfers}))

    def test_sums_of_workers_are_those_of_the_table(self):
        for number, tasks, _ in self.runs():
            computing, count = sums(tasks, lambda t: t["worker"], seconds), Counter(t["worker"] for t in tasks)
            for row in self.table(f"workers-{number}"):
                self.assertAlmostEqual(row["#computing"], computing[row["worker"]], delta=1e-8 * (1 + count[row["worker"]]))
                self.assertEqual(row["#tasks"], count[row["worker"]])
            span = self.js("return tesseraReport.runs[arguments[0] - 1].span", number)
            for worker in self.js("return tesseraReport.runs[arguments[0] - 1].workers", number):
                parts = sum(worker[part] for part in ("computing", "data", "overhead", "idle"))
                self.assertAlmostEqual(parts, span, delta=1e-6 * span)

    def test_sums_of_routines_are_those_of_the_table(self):
        for number, tasks, _ in self.runs():
            computing, count = sums(tasks, lambda t: t["routine"], seconds), Counter(t["routine"] for t in tasks)
            rows = self.table(f"routines-{number}")
            self.assertEqual({row["routine"]: row["#tasks"] for row in rows}, dict(count))
            for row in rows:
                self.assertAlmostEqual(row["#time"], computing[row["routine"]], delta=1e-8 * (1 + count[row["routine"]]))

    def test_bytes_of_links_are_those_of_the_table(self):
        for number, _, transfers in self.runs():
            by_link = sums(transfers, lambda t: t["link"], lambda t: int(t["bytes"]))
            by_operand = sums(transfers, lambda t: (t["link"], t["operand"]), lambda t: int(t["bytes"]))
            rows = self.table(f"links-{number}")
            self.assertEqual({row["link"]: row["#bytes"] for row in rows}, by_link)
            for row in rows:
                for operand in "ABC":
                    self.assertEqual(row["#" + operand], by_operand.get((row["link"], operand), 0))
            self.assertEqual(sum(by_link.values()), float(self.js(
                "return document.querySelector(`[data-run='${arguments[0]}'] [data-figure=bytes]`).dataset.value", number)))

    def test_numbers_shown_are_those_behind_them(self):
        units = {"s": 1, "ms": 1e-3, "µs": 1e-6, "TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1, "": 1}
        cells = self.js("""
            return [...document.querySelectorAll('table')].flatMap(table => [...table.tBodies[0].rows].flatMap(row =>
              [...row.cells].filter(cell => cell.dataset.value).map((cell, i) =>
                [cell.textContent, Number(cell.dataset.value),
                 table.tHead.rows[0].cells[cell.cellIndex].querySelector('.unit')?.textContent.trim() ?? ''])))""")
        compared = 0
        for shown, value, unit in cells:
            plain = shown.replace("\u202f", "").replace("−", "-")
            try:
                number = float(plain)
            except ValueError:
                continue  # the cell has a unit of its own
            if unit in units:
                digits = len(plain.split(".")[1]) if "." in plain else 0
                self.assertAlmostEqual(number, value / units[unit], delta=0.5001 * 10 ** -digits,
                                       msg=(shown, value, unit))
                compared += 1
        self.assertGreater(compared, 20)

    def test_fits_into_the_window(self):
        for width in (1280, 1920):
            self.browser.set_window_size(width, 1000)
            self.drawn()
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth - innerWidth"), 0, width)
            shown = self.js("return [...document.querySelectorAll('.table')].filter(t => t.scrollWidth > t.clientWidth)"
                            ".map(t => t.dataset.table)")
            self.assertEqual(shown, [], f"tables that need to be scrolled at {width}")
        self.browser.set_window_size(1280, 1000)


class AnyWindow:
    """Tests of a page in small and large windows. They take long, so not every page has them."""

    def test_windows_of_all_sizes_show_the_chart_wherever_they_are_scrolled(self):
        """The rows in the window look like those on paper, where all rows are drawn."""
        for width, height in SIZES:
            with self.subTest(width=width, height=height):
                self.resize(width, height)
                self.browser.refresh()
                self.drawn()
                self.browser.execute_async_script(WHOLE_CHART)
                self.drawn()
                end, seen = self.js("return document.documentElement.scrollHeight"), set()
                for top in range(0, end, height - 100):
                    self.js("scrollTo(0, arguments[0])", top)
                    self.drawn()
                    rows, different = self.js(ROWS_IN_WINDOW)
                    self.assertEqual(different, [], f"rows that are not drawn at {top}")
                    seen.update(rows)
                self.assertEqual(len(seen), self.js("return tesseraReport.chart.rows.length"))

    def test_windows_of_all_sizes_cut_nothing_off(self):
        for width, height in SIZES:
            with self.subTest(width=width, height=height):
                self.resize(width, height)
                self.drawn()
                self.assertLessEqual(self.js("return document.documentElement.scrollWidth - innerWidth"), 0)
                self.assertEqual(self.js(CUT_OFF), [])
                self.assertGreater(self.view()["width"], width / 3)
